// The page's looks, and the policy that lets in this style sheet and nothing else.

#include "agent/base/sha256.h"
#include "agent/report/parts.h"

namespace kagent::report {
namespace {

constexpr Markup kStyle = R"css(
:root{color-scheme:light dark;--bg:#fbfbfa;--card:#fff;--ink:#1d2126;--soft:#5a636e;--line:#dfe2e6;--link:#1756a9;--good:#17663a;--goodbg:#e4f3ea;
--bad:#a3221d;--badbg:#fbe9e7;--warn:#7a4d00;--warnbg:#fbf0d9;--code:#f4f5f6;--k:#8424a0;--s:#0f6a4b;--n:#a5460a;--c:#656d76;
--f0:#2f6db5;--f1:#c8741b;--f2:#3a8f6b;--f3:#8a63b8;--f4:#b8505a;--f5:#6f7b29;--f6:#3f8fa3;--f7:#7b6a5e}
@media(prefers-color-scheme:dark){:root{--bg:#14171a;--card:#1b1f23;--ink:#e3e6ea;--soft:#a1aab4;--line:#343a41;--link:#8ab8f5;--good:#7fd3a0;--goodbg:#17352a;
--bad:#f2a09a;--badbg:#41201f;--warn:#ecc373;--warnbg:#3b2f16;--code:#111417;--k:#d3a0e8;--s:#86d3b0;--n:#f0ad78;--c:#949da7;
--f0:#6ea5e6;--f1:#e5a058;--f2:#6cc39d;--f3:#b795e0;--f4:#e08a92;--f5:#b0bd5f;--f6:#76c0d3;--f7:#b5a294}}
*{box-sizing:border-box}
html{scroll-padding-top:4rem}
body{margin:0;background:var(--bg);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;overflow-wrap:anywhere}
header,main,footer,nav{max-width:76rem;margin:0 auto;padding:0 1.5rem}
header{padding-top:2.5rem}
h1{font-size:1.9rem;line-height:1.2;margin:0 0 .3rem;letter-spacing:-.015em}
h2{font-size:1.35rem;margin:3rem 0 .75rem;padding-top:.5rem;letter-spacing:-.01em}
h3{font-size:1.05rem;display:inline;margin:0}
h4{font-size:1rem;margin:0 0 .5rem}
p{margin:.5rem 0;max-width:75ch}
a{color:var(--link)}
.skip{position:absolute;left:-100vw;top:0}
.skip:focus{left:1rem;top:.5rem;background:var(--card);padding:.5rem 1rem;z-index:2}
:focus-visible{outline:3px solid var(--link);outline-offset:2px;border-radius:3px}
nav ul{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;list-style:none;margin:1rem 0 0;padding:.6rem 0;border-block:1px solid var(--line)}
.jump ul{border:0;margin:0;gap:.25rem .9rem}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(13rem,1fr));gap:1rem;margin:1rem 0}
.tile{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:.9rem 1.1rem}
.tile dt{color:var(--soft);font-size:.85rem}
.tile dd{margin:0}
.big{display:block;font-size:1.8rem;font-weight:600;line-height:1.3;font-variant-numeric:tabular-nums;letter-spacing:-.02em}
.aside,.note{color:var(--soft);font-size:.875rem}
.aside{font-weight:400}
.notes{background:var(--warnbg);border-radius:8px;padding:.7rem 1rem .7rem 2.2rem;font-size:.9rem}
.problem{background:var(--badbg);color:var(--bad);border-radius:8px;padding:.6rem 1rem;font-size:.9rem}
.wide{overflow-x:auto;margin:1rem 0;max-width:100%}
table{border-collapse:collapse;width:100%;font-size:.875rem;font-variant-numeric:tabular-nums;overflow-wrap:normal}
caption{text-align:left;font-weight:600;padding:.3rem 0 .4rem}
th,td{text-align:left;vertical-align:top;padding:.38rem .9rem .38rem 0;border-bottom:1px solid var(--line)}
th:last-child,td:last-child{padding-right:0}
thead th{color:var(--soft);font-weight:500;font-size:.8rem;white-space:nowrap}
tbody th{font-weight:500;min-width:7rem}
.num{text-align:right;white-space:nowrap}
td,tbody th{overflow-wrap:break-word;max-width:40rem}
section>.wide td:not(.num){min-width:7rem}
.card tbody th{min-width:9.5rem;max-width:14rem;overflow-wrap:anywhere}
td code{overflow-wrap:anywhere}
figure{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:1rem}
figure svg{display:block;width:100%;min-width:34rem;max-width:56rem;height:auto;margin:0 auto}
svg text{font-size:11px;fill:var(--soft);font-family:inherit}
svg .name{fill:var(--ink);font-size:12px}
svg .value{fill:var(--ink);font-size:10px}
.mid{text-anchor:middle}.end{text-anchor:end}
.grid{stroke:var(--line)}.one{stroke:var(--soft)}.err{stroke:var(--ink);stroke-width:1.2}
.curve{fill:none;stroke:var(--f0);stroke-width:2}.band{fill:var(--f0);opacity:.15}.dot{fill:var(--f0)}
.f0{fill:var(--f0)}.f1{fill:var(--f1)}.f2{fill:var(--f2)}.f3{fill:var(--f3)}.f4{fill:var(--f4)}.f5{fill:var(--f5)}.f6{fill:var(--f6)}.f7{fill:var(--f7)}
.swatch{width:.7em;height:.7em;margin-right:.45em}
.legend{display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;list-style:none;padding:0;margin:.5rem 0;font-size:.875rem}
summary{cursor:pointer;padding:.35rem 0;min-height:1.75rem}
.task{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:.5rem 1.1rem;margin:.75rem 0}
.task>.body{scroll-margin-top:4rem}
.badge{display:inline-block;font-size:.78rem;font-weight:500;line-height:1.5;border-radius:99px;padding:.05rem .6rem;background:var(--code);color:var(--soft);margin-left:.3rem}
.good{color:var(--good)}.bad{color:var(--bad)}.warn{color:var(--warn)}
.badge.good{background:var(--goodbg)}.badge.bad{background:var(--badbg)}.badge.warn{background:var(--warnbg)}
.samples{display:flex;gap:1rem;overflow-x:auto;align-items:flex-start;padding:.5rem 0 1rem}
.card{flex:1 0 min(30rem,100%);min-width:0;max-width:100%;border:1px solid var(--line);border-radius:8px;padding:1rem;background:var(--bg)}
.card details{border-top:1px solid var(--line)}
.card summary{font-size:.9rem}
.facts{font-size:.875rem;margin:.75rem 0}
.facts div{display:flex;gap:.75rem;padding:.1rem 0}
.facts dt{color:var(--soft);flex:0 0 9rem}
.facts dd{margin:0;min-width:0}
blockquote{margin:.5rem 0;padding:.4rem .9rem;border-left:3px solid var(--line);font-size:.9rem;white-space:pre-wrap}
.plainlist{list-style:none;padding:0;margin:.3rem 0;font-size:.875rem}
pre,code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.78rem;unicode-bidi:isolate}
pre{background:var(--code);border-radius:6px;padding:.75rem;margin:.4rem 0 .8rem;overflow:auto;max-height:36rem;line-height:1.5;tab-size:4;overflow-wrap:normal;direction:ltr}
pre code{font-size:inherit}
.k{color:var(--k)}.s{color:var(--s)}.n{color:var(--n)}.c{color:var(--c)}
.gap{color:var(--soft);font-style:italic}
footer{padding-block:2.5rem;color:var(--soft);font-size:.85rem}
@media(max-width:40rem){header,main,footer,nav{padding-inline:1rem}.facts div{display:block}.card{padding:.75rem}.task{padding:.5rem .7rem}}
@media print{body{background:#fff;font-size:10pt}nav,.skip{display:none}.samples{display:block}.wide,pre{overflow:visible;max-height:none}pre{white-space:pre-wrap;overflow-wrap:anywhere}
.card{margin-bottom:1rem}.tile,figure,tr{break-inside:avoid}}
)css";

int digit(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

// RFC 4648, of bytes in hexadecimal.
std::string base64_of_hex(const std::string& hex) {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  unsigned bits = 0;
  int count = 0;
  for (const char c : hex) {
    bits = bits << 4 | static_cast<unsigned>(digit(c));
    count += 4;
    while (count >= 6) {
      count -= 6;
      out += kAlphabet[bits >> count & 63U];
    }
  }
  if (count > 0) out += kAlphabet[bits << (6 - count) & 63U];
  while (out.size() % 4 != 0) out += '=';
  return out;
}

}  // namespace

std::string_view style() { return kStyle.view(); }

Html style_element() { return Html() << "<style>" << kStyle << "</style>\n"; }

Html policy_element() {
  Html out;
  out << "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-"
      << text(base64_of_hex(sha256_hex(style()))) << "'; base-uri 'none'; form-action 'none'\">\n";
  return out;
}

}  // namespace kagent::report
