"""A worker: the reference's (expected values, baselines, comparison) or a candidate's (one plan). docs/protocol.md, "Worker"."""
from __future__ import annotations

import gc
import json
import os
import sys
import time
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import torch  # noqa: E402

from check import exchange  # noqa: E402
from check.compare import compare_all  # noqa: E402
from measure.timing import Timed  # noqa: E402
from model.build import build_model  # noqa: E402
from model.failure import Failure, context_lost, failure_of  # noqa: E402
from model.flags import precision  # noqa: E402
from model.inputs import describe, input_bytes, make_inputs, tensors_of  # noqa: E402
from model.load import load_task  # noqa: E402
from model.state import ModelState, state_tensors  # noqa: E402

STAGES = {"plan": "validate", "run": "run", "time_begin": "time", "time_burst": "time", "time_check": "time", "time_end": "time", "profile": "profile",
          "task": "task"}


class Worker:
    def __init__(self, role: str, backend: str, library: str):
        self.role, self.backend = role, backend
        self.device = torch.device("cuda", 0) if backend == "cuda" else torch.device("cpu")
        self.library = library
        self.model = self.task = self.state = self.executor = None
        self.seed = 42
        self.facts: dict = {}
        self.plan_outputs: Any = None
        self.timed: dict[str, Timed] = {}
        self.timed_sets: dict[int, list] = {}
        self.graphs: dict[int, Any] = {}

    # Commands ---------------------------------------------------------------------------------------------------------

    def hello(self, request: dict) -> dict:
        answer = {"torch": torch.__version__, "backend": self.backend, "device": None, "gpu_processes": []}
        if self.backend == "cuda":
            if not torch.cuda.is_available():
                raise Failure("internal", "no_gpu", "torch sees no GPU here: check the driver and CUDA_VISIBLE_DEVICES, or run `kagent doctor`")
            from measure.device import device_facts, gpu_processes
            torch.cuda.init()
            answer.update(device=device_facts(), gpu_processes=gpu_processes(), cudnn=torch.backends.cudnn.version())
        torch.ops.load_library(self.library)
        # Tensors without data need seconds at their first use: now, while others warm up too.
        import plan.infer  # noqa: F401
        with torch._subclasses.fake_tensor.FakeTensorMode(), torch.no_grad():
            torch.nn.functional.linear(torch.empty(2, 2, device="cuda"), torch.empty(2, 2, device="cuda")).relu()
        return answer

    def load(self, request: dict) -> dict:
        begin = time.monotonic()
        self.seed = int(request.get("seed", 42))
        self.task = load_task(request["file"])
        self.model = build_model(self.task, self.seed, self.device)
        self.state = ModelState(self.model)
        from plan.infer import facts_of
        inputs = self._inputs(self.seed, 1.0)
        self.facts = facts_of(self.model, inputs)
        return {"inputs": describe(inputs), "parameter_bytes": sum(p.numel() * p.element_size() for p in self.model.parameters()),
                "elapsed_s": time.monotonic() - begin}

    def plan(self, request: dict) -> dict:
        begin = time.monotonic()
        self._ready()
        reference = bool(request.get("reference"))
        text, kernels, device = request["plan"], json.dumps(request.get("kernels") or {}), json.dumps(request["device"])
        with open(os.path.join(HERE, "plan", "operators.txt"), encoding="utf-8") as f:
            operators = f.read()
        checked = json.loads(torch.ops.kagent.check(text, kernels, device, operators, "reference" if reference else "candidate"))
        if not checked["ok"]:
            error = checked["error"]
            raise Failure(error["stage"], error["kind"], error["message"], error.get("detail", ""), error.get("line"), error.get("block"))
        parsed = json.loads(text)
        self._infer(parsed)
        options = request.get("options") if reference else None
        if self.backend != "cuda" and any("launch" in step for step in parsed["prepare"] + parsed["forward"]):
            raise Failure("run", "needs_gpu", "compiled and validated; there is no GPU here to run, check and time it")
        self.executor = torch.classes.kagent.Executor(text, kernels, request.get("cubin") or "", str(self.device), json.dumps(options or {}))
        state = state_tensors(self.model)
        buffers = [state[name] for name, _ in parsed["buffers"]]
        self.executor.bind([p.detach() for p in self.model.parameters()], buffers, [state[name] for name, _ in parsed["state"]])
        self._synchronize()
        prepare_begin = time.monotonic()
        self.executor.prepare()
        self._synchronize()
        prepare_ms = 1000 * (time.monotonic() - prepare_begin)
        self.plan_outputs = exchange.structure_of_plan(parsed["outputs"], [0])
        return {"prepare_ms": prepare_ms, "elapsed_s": time.monotonic() - begin, **json.loads(self.executor.info())}

    def run(self, request: dict) -> dict:
        begin = time.monotonic()
        self._need_plan()
        inputs = tensors_of(self._inputs(int(request["seed"]), float(request["scale"])))
        # Two patterns, one a parity of the seed: what is never written shows as NaN here or as 2^100 there.
        self.executor.set_poison("nan" if int(request["seed"]) % 2 == 0 else "huge")
        self.state.restore()
        outputs = []
        for _ in range(int(request.get("calls", 1))):
            outputs = self.executor.run(inputs)
            self._synchronize()
        exchange.write(request["out"], self.plan_outputs, outputs, state_tensors(self.model))
        self.state.restore()
        self.executor.set_poison("off")
        return {"elapsed_s": time.monotonic() - begin}

    def compare(self, request: dict) -> dict:
        self._ready()
        if self.role != "reference":
            raise Failure("internal", "bad_request", "only the reference worker compares")
        begin = time.monotonic()
        with torch.no_grad(), precision(request.get("flags", "official")):
            inputs = self._inputs(int(request["seed"]), float(request["scale"]))
            self.state.restore()
            for _ in range(int(request.get("calls", 1))):
                output = self.model(*inputs)
        leaves: list[torch.Tensor] = []
        structure = exchange.structure_of(output, leaves)
        want = {f"output {i}": t for i, t in enumerate(leaves)}
        want.update({f"state {name}": t for name, t in state_tensors(self.model).items()})
        got_structure, got = exchange.read(request["file"])
        if request.get("outputs_only"):
            want = {name: t for name, t in want.items() if name.startswith("output ")}
            got = {name: t for name, t in got.items() if name.startswith("output ")}
        result = compare_all(got_structure, got, structure, want, float(request.get("tolerance", 1e-3)))
        self.state.restore()
        return {**result, "elapsed_s": time.monotonic() - begin}

    def time_begin(self, request: dict) -> dict:
        self._need_gpu()
        kind = request["kind"]
        self.state.restore()
        call = self._call(kind)
        example = self._inputs(self.seed, 1.0)
        self.timed[kind] = Timed(call, self._timed_inputs, input_bytes(example), int(request.get("seed", 42)), int(request.get("warmup", 5)))
        return {"input_sets": len(self.timed[kind].sets)}

    def time_burst(self, request: dict) -> dict:
        return {"ms": self._timed(request).burst(int(request["count"]))}

    def time_check(self, request: dict) -> dict:
        timed = self._timed(request)
        if timed.kept is None:
            raise Failure("time", "bad_request", "no timed run yet")
        index, output = timed.kept
        exchange.write(request["out"], self.plan_outputs, output, {})
        return {"seed": timed.seeds[index], "scale": 1.0, "calls": 1}

    def time_end(self, request: dict) -> dict:
        from measure.device import clocks
        timed = self._timed(request)
        del self.timed[request["kind"]]
        self.state.restore()
        return {"peak_bytes": timed.peak_bytes, "clocks": clocks()}

    def profile(self, request: dict) -> dict:
        self._need_gpu()
        self.state.restore()
        inputs = self._inputs(self.seed, 1.0)
        if request["kind"] == "plan":
            self._need_plan()
            return json.loads(self.executor.profile(tensors_of(inputs)))
        calls = 3
        with torch.no_grad(), precision("baseline"):
            self.model(*inputs)
            torch.cuda.synchronize()
            torch.ops.kagent.profile_begin()
            for _ in range(calls):
                self.model(*inputs)
            torch.cuda.synchronize()
            return json.loads(torch.ops.kagent.profile_end(calls))

    def strides(self, request: dict) -> dict:
        """Planned against real: runs the loaded plan once; results laid out otherwise than planned were copied and counted."""
        self._need_plan()
        self.state.restore()
        self.executor.set_graph(False)
        self.executor.run(tensors_of(self._inputs(self.seed, 1.0)))
        self._synchronize()
        return {"differing": json.loads(self.executor.info())["restrides"]}

    # What they share ---------------------------------------------------------------------------------------------------

    def _call(self, kind: str):
        if kind in ("plan", "null_plan"):
            self._need_plan()
            return lambda inputs: self.executor.run(tensors_of(inputs))
        if kind == "eager":
            def eager(inputs):
                with torch.no_grad(), precision("baseline"):
                    return self.model(*inputs)
            return eager
        if kind == "graphed_eager":
            return self._graphed()
        raise Failure("time", "bad_request", f"unknown kind {kind}")

    def _graphed(self):
        """Eager under one CUDA graph for each input set: no copies, as a user with fixed buffers would have it."""
        graphs: dict[int, tuple] = {}

        def run(inputs):
            key = id(inputs)
            if key not in graphs:
                try:
                    graphs[key] = self._capture(inputs)
                except RuntimeError as error:
                    raise Failure("time", "not_capturable", f"eager cannot be captured as one CUDA graph: {str(error).splitlines()[0]}") from error
            graph, output = graphs[key]
            graph.replay()
            return output
        return run

    def _capture(self, inputs: list) -> tuple:
        with torch.no_grad(), precision("baseline"):
            side = torch.cuda.Stream()
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                for _ in range(2):
                    self.model(*inputs)
            torch.cuda.current_stream().wait_stream(side)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                output = self.model(*inputs)
        return graph, output

    def _inputs(self, seed: int, scale: float) -> list:
        return make_inputs(self.task, seed, scale, self.device)

    def _timed_inputs(self, seed: int) -> list:
        """One set for all kinds of this worker: drawing on the CPU takes longer than all the runs. Read-only by every kind that is timed."""
        if seed not in self.timed_sets:
            self.timed_sets[seed] = self._inputs(seed, 1.0)
        return self.timed_sets[seed]

    def _infer(self, parsed: dict) -> None:
        from plan.infer import Rejected, infer
        try:
            infer(parsed, self.facts)
        except Rejected as error:
            raise Failure("validate", error.kind, error.message, "", error.line, "python" if error.line else None) from error

    def _timed(self, request: dict) -> Timed:
        if request["kind"] not in self.timed:
            raise Failure("time", "bad_request", f"{request['kind']}: time_begin comes first")
        return self.timed[request["kind"]]

    def _ready(self) -> None:
        if self.model is None:
            raise Failure("internal", "bad_request", "no task is loaded: send task first")

    def _need_plan(self) -> None:
        if self.executor is None:
            raise Failure("internal", "no_plan", "no plan is loaded")

    def _need_gpu(self) -> None:
        self._ready()
        if self.backend != "cuda":
            raise Failure("time", "needs_gpu", "there is no GPU here to measure on")

    def _synchronize(self) -> None:
        if self.backend == "cuda":
            torch.cuda.synchronize()


def answer(worker: Worker, line: str) -> dict:
    commands = {"hello": worker.hello, "task": worker.load, "plan": worker.plan, "run": worker.run, "compare": worker.compare, "time_begin": worker.time_begin,
                "time_burst": worker.time_burst, "time_check": worker.time_check, "time_end": worker.time_end, "profile": worker.profile,
                "strides": worker.strides}
    name = ""
    try:
        request = json.loads(line)
        name = request.get("cmd") if isinstance(request, dict) else ""
        if name not in commands:
            raise Failure("internal", "bad_request", f"unknown cmd {name!r}")
        return {"ok": True, **commands[name](request)}
    except BaseException as error:  # noqa: BLE001  one answer to each request
        failure = failure_of(error, STAGES.get(name, "internal"))
        reply = {"ok": False, "error": failure.error}
        if failure.fatal or context_lost():
            reply["fatal"] = True
        return reply


def main() -> None:
    arguments = dict(zip(sys.argv[1::2], sys.argv[2::2]))
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what task files print is not protocol
    worker = Worker(arguments.get("--role", "candidate"), arguments.get("--backend", "cuda"), arguments["--library"])
    for line in sys.stdin:
        reply = answer(worker, line)
        channel.write(json.dumps(reply) + "\n")
        channel.flush()
        if reply.get("fatal"):
            os._exit(1)  # the CUDA context is lost
        gc.collect()


if __name__ == "__main__":
    main()
