"""hello, task and plan (docs/protocol.md, "Worker")."""

from __future__ import annotations

import time

import torch

from check.weights import applicable
from measure import device, nvml
from model import warm
from model.build import build_model
from model.failure import Failure
from model.inputs import KeptDraws, describe
from model.load import load_task
from model.loaded_plan import LoadedPlan
from model.session import Answer, Request, Session, argument
from model.state import ModelState
from plan.infer import facts_of


def hello(session: Session, request: Request) -> Answer:
    answer = {"torch": torch.__version__, "backend": session.backend, "device": None, "gpu_processes": []}
    if session.backend == "cuda":
        if not torch.cuda.is_available():
            raise Failure("internal", "no_gpu", "torch sees no GPU here: check the driver and CUDA_VISIBLE_DEVICES, or "
                          "run `kagent doctor`")
        torch.cuda.init()
        answer.update(device=device.device_facts(), gpu_processes=nvml.gpu_processes(),
                      cudnn=torch.backends.cudnn.version())
    try:
        torch.ops.load_library(session.library)
    except OSError as error:
        raise Failure("internal", "no_library",
                      f"cannot load {session.library}: {error}; ./dev build makes it") from error
    if session.role == "candidate":
        warm.tensors_without_data()
    warm.libraries(session.device)
    return answer


def task(session: Session, request: Request) -> Answer:
    begin = time.monotonic()
    seed = argument(request, "seed", int, 42)
    session.task = load_task(argument(request, "file", str))
    session.plan, session.timers, session.input_sets, session.compiled = None, {}, {}, {}
    session.double, session.base, session.draws = None, None, KeptDraws()
    session.model = build_model(session.task, seed, session.device)
    session.state, session.seed = ModelState(session.model), seed
    drawing = time.monotonic()
    inputs = session.inputs(seed)
    drawn_s, call_s = time.monotonic() - drawing, 0.0
    session.facts = facts_of(session.model, inputs)
    if session.role == "reference" and session.backend == "cuda":
        call_s = warm.reference(session.task, session.model, session.state, inputs)
    return {"inputs": describe(inputs), "regimes": applicable(session.model), "elapsed_s": time.monotonic() - begin,
            "drawn_s": drawn_s, "call_s": call_s, "parameter_bytes": sum(p.numel() * p.element_size() for p in session.model.parameters())}


def plan(session: Session, request: Request) -> Answer:
    begin = time.monotonic()
    session.need_task()
    reference = argument(request, "reference", bool, False)
    session.need_role("reference" if reference else "candidate", "this plan")
    session.plan = None
    session.plan = LoadedPlan(
        argument(request, "plan", str), request.get("kernels") or {}, request.get("cubin") or "",
        argument(request, "device", dict), reference=reference, options=request.get("options") if reference else None,
        model=session.model, state=session.state, facts=session.facts, device=session.device,
        aliasing=argument(request, "aliasing", bool, False),
        emulate=request.get("emulate") if session.backend == "cpu" else None,
        inferred=reference and argument(request, "inferred", bool, False))
    return {**session.plan.info(), "prepare_ms": session.plan.prepare_ms, "elapsed_s": time.monotonic() - begin}


COMMANDS = {"hello": (hello, "internal"), "task": (task, "task"), "plan": (plan, "validate")}
