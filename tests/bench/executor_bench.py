#!/usr/bin/env python3
"""The plan executor against the same steps by hand, on a GPU.

    KAGENT_PYTHON=python3 python3 tests/bench/executor_bench.py --build build/release

graph: task 3/9 with the kernels of side_by_side/, as a plan under one CUDA graph, and the same calls captured by hand with torch; medians of 200
replays each, in alternating bursts of 20, CUDA events, the host waiting for the GPU before each. "same": the plan gets the same inputs at each call, as the
hand-made graph does, which has them built in; "rotated": other inputs at each call, which the hand-made graph cannot take; "ahead": the GPU is kept busy while
the host enqueues, so that GPU time alone is seen. launch: host time a launch of an empty kernel without a graph, 1,000 launches a call, median of 50 calls, and that of
the driver's own call alone (launch_floor). Prints one JSON object.
"""
import argparse
import itertools
import json
import os
import re
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests", "gpu"))
sys.path.insert(0, os.path.join(ROOT, "harness"))

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

from null_plans import Child  # noqa: E402

DEVICE = {"name": "NVIDIA H200", "arch": "sm_90a", "sm_count": 132, "shared_per_block": 232448, "shared_per_sm": 233472, "registers_per_sm": 65536, "threads_per_sm": 2048,
          "blocks_per_sm": 32, "max_cluster": 8, "l2_bytes": 62914560, "memory_bytes": 0, "driver": ""}
EMPTY_TASK = "import torch\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        return x + 1\ndef get_inputs(): return [torch.rand(32)]\ndef get_init_inputs(): return []\n"
EMPTY_HOST = """import torch
import kagent as kg
class ModelNew(Model):
    def forward(self, x):
        kg.options(graph=False)
        y = torch.empty_like(x)
        for _ in range(1000):
            kg.launch("nothing", grid=1, block=32, args=[x, y, 32])
        return y
"""
EMPTY_CUDA = 'extern "C" __global__ void nothing(const float* x, float* y, int n) {}\n'


def text(*parts: str) -> str:
    with open(os.path.join(HERE, *parts), encoding="utf-8") as f:
        return f.read()


def executor(build: str, python: str, task: str, cuda: str, host: str):
    tracer = Child([python, "-s", "-E", "-B", f"{ROOT}/harness/trace.py", "--seal", f"{build}/lib/libkagent_seal.so"], "")
    compiler = Child([f"{build}/bin/kagent-compile", "--cache", "/tmp/kagent-bench-cache"], "")
    tracer.ask(cmd="task", file=task)
    traced = tracer.ask(cmd="trace", program=host, device=DEVICE)
    compiled = compiler.ask(cmd="compile", source=cuda, arch="sm_90a", names=traced["kernels"])
    return torch.classes.kagent.Executor(traced["plan"], json.dumps(compiled["kernels"]), compiled["cubin"], "cuda:0", "{}")


def load(path: str):
    names: dict = {}
    with open(path, encoding="utf-8") as f:
        exec(compile(f.read(), path, "exec"), names)
    torch.manual_seed(42)
    return names["Model"](*names["get_init_inputs"]()).cuda(), [x.cuda() for x in names["get_inputs"]()]


def by_hand(model, cuda: str):
    """The host program of side_by_side/host_kagent.py in plain torch, its kernels through torch's own NVRTC binding."""
    source = re.sub(r'extern "C" ', "", cuda)
    statistics_kernel = torch.cuda._compile_kernel(source, "bn_statistics")
    apply_kernel = torch.cuda._compile_kernel(source, "bn_apply")

    def bn(m, x, residual=None, relu=True):
        n, c, h, w = x.shape
        scale, shift, y = x.new_empty(c), x.new_empty(c), torch.empty_like(x)
        statistics_kernel((c, 1, 1), (512, 1, 1), [x, m.weight.detach(), m.bias.detach(), scale, shift, m.running_mean, m.running_var, m.num_batches_tracked, n, c, h * w, m.eps, m.momentum])
        apply_kernel(((x.numel() + 255) // 256, 1, 1), (256, 1, 1), [x, scale, shift, residual if residual is not None else 0, y, x.numel(), c, h * w, int(relu)])
        return y

    def forward(x):
        x = F.max_pool2d(bn(model.bn1, model.conv1(x)), 3, 2, 1)
        for layer in (model.layer1, model.layer2, model.layer3, model.layer4):
            for b in layer:
                y = b.conv2(bn(b.bn1, b.conv1(x)))
                if b.downsample is not None:
                    x = bn(b.downsample[1], b.downsample[0](x), relu=False)
                x = bn(b.bn2, y, residual=x)
        return model.fc(torch.flatten(F.adaptive_avg_pool2d(x, 1), 1))
    return forward


def burst(call, count: int, ahead: bool = False) -> list:
    out = []
    for _ in range(count + 1):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize()
        if ahead:
            torch.cuda._sleep(2_000_000)  # clock cycles, about 1 ms
        begin.record()
        call()
        end.record()
        torch.cuda.synchronize()
        out.append(begin.elapsed_time(end))
    return out[1:]


def graph_bench(build: str, python: str) -> dict:
    path = f"{ROOT}/tasks/level3/9_resnet18.py"
    model, inputs = load(path)
    plan = executor(build, python, path, text("side_by_side", "kernels.cu"), text("side_by_side", "host_kagent.py"))
    buffers = dict(model.named_buffers())
    plan.bind([p.detach() for p in model.parameters()], list(buffers.values()), [])
    plan.prepare()
    plan.run(inputs)
    forward = by_hand(model, text("side_by_side", "kernels.cu"))
    with torch.no_grad():
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            for _ in range(3):
                forward(*inputs)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            forward(*inputs)
    run = plan.run  # looked up once, as the workers do and as graph.replay is
    sets = itertools.cycle([inputs] + [[torch.rand_like(x) for x in inputs] for _ in range(3)])
    times: dict = {"same": [], "rotated": [], "by_hand": [], "ahead": [], "by_hand_ahead": []}
    for _ in range(10):
        times["same"] += burst(lambda: run(inputs), 20)
        times["rotated"] += burst(lambda: run(next(sets)), 20)
        times["by_hand"] += burst(graph.replay, 20)
        times["ahead"] += burst(lambda: run(inputs), 20, ahead=True)
        times["by_hand_ahead"] += burst(graph.replay, 20, ahead=True)
    ms = {name: statistics.median(values) for name, values in times.items()}
    return {"median_ms": ms, "ratio_same": ms["same"] / ms["by_hand"], "ratio_rotated": ms["rotated"] / ms["by_hand"],
            "ratio_ahead": ms["ahead"] / ms["by_hand_ahead"], "info": json.loads(plan.info())}


def launch_bench(build: str, python: str) -> dict:
    path = "/tmp/kagent_empty_task.py"
    with open(path, "w", encoding="utf-8") as f:
        f.write(EMPTY_TASK)
    plan = executor(build, python, path, EMPTY_CUDA, EMPTY_HOST)
    plan.bind([], [], [])
    plan.prepare()
    x = torch.rand(32, device="cuda")
    times = []
    for _ in range(55):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        plan.run([x])
        times.append((time.perf_counter() - begin) * 1e6 / 1000)
    floor = json.loads(subprocess.run([f"{build}/bin/launch_floor"], capture_output=True, text=True, check=True).stdout)
    return {"host_us_per_launch": statistics.median(times[5:]), **floor}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=f"{ROOT}/build/release")
    build = os.path.abspath(parser.parse_args().build)
    torch.cuda.init()
    torch.ops.load_library(f"{build}/lib/libkagent_harness.so")
    python = os.environ.get("KAGENT_PYTHON", sys.executable)
    print(json.dumps({"device": torch.cuda.get_device_name(), "graph": graph_bench(build, python), "launch": launch_bench(build, python)}, indent=1))


if __name__ == "__main__":
    main()
