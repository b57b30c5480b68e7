"""llama.cpp on the trunk's GGUF: the prebuilt npm package and llama-cpp-python, whichever is installed."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

Engine = Callable[[list[int]], tuple[float, float]]

_NODE = """
import {getLlama} from "node-llama-cpp";
const {model: modelPath, ids, threads, decode} = JSON.parse(process.argv[2]);
const llama = await getLlama({gpu: false, build: "never", logLevel: "error"});
const model = await llama.loadModel({modelPath});
const context = await model.createContext({contextSize: 2048, batchSize: 512, threads});
const sequence = context.getSequence();
let start = performance.now(), read = 0, written = 0;
for await (const token of sequence.evaluate(ids, {temperature: 0, yieldEogToken: true})) {
    if (written === 0) { read = performance.now() - start; start = performance.now(); }
    if (++written > decode) break;
}
console.log(JSON.stringify([read / 1e3, (performance.now() - start) / 1e3]));
process.exit(0);
"""


def engines(gguf: Path, scratch: Path, threads: int, node: Path | None, decode: int) -> dict[str, Engine]:
    """The engines that are there, by name. Each gives tokens per second of reading a prompt and of writing `decode`."""
    found: dict[str, Engine] = {}
    if node is not None:
        found["llama.cpp (npm, prebuilt), Q4_1"] = _npm(node, gguf, threads, decode)
    if importlib.util.find_spec("llama_cpp") is not None:
        found["llama.cpp (from source), Q4_1"] = _python(gguf, threads, decode)
        found["llama.cpp (from source), Q8_0"] = _python(_eight_bits(gguf, scratch), threads, decode)
    return found


def _npm(folder: Path, gguf: Path, threads: int, decode: int) -> Engine:
    script = folder / "speed.mjs"
    script.write_text(_NODE)

    def run(ids: list[int]) -> tuple[float, float]:
        request = {"model": str(gguf), "ids": ids, "threads": threads, "decode": decode}
        command = ["node", script.name, json.dumps(request)]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
        read, wrote = json.loads(done.stdout.splitlines()[-1])
        return len(ids) / read, decode / wrote

    return run


def _python(gguf: Path, threads: int, decode: int) -> Engine:
    import llama_cpp

    model = llama_cpp.Llama(
        str(gguf), n_ctx=2048, n_batch=512, n_threads=threads, n_threads_batch=threads, verbose=False
    )

    def run(ids: list[int]) -> tuple[float, float]:
        model.reset()
        start = time.perf_counter()
        model.eval(ids)
        token = model.sample(temp=0.0)
        read = time.perf_counter() - start
        start = time.perf_counter()
        for _ in range(decode):
            model.eval([token])
            token = model.sample(temp=0.0)
        return len(ids) / read, decode / (time.perf_counter() - start)

    return run


def _eight_bits(gguf: Path, scratch: Path) -> Path:
    import llama_cpp

    options = llama_cpp.llama_model_quantize_default_params()
    options.ftype, options.allow_requantize = llama_cpp.LLAMA_FTYPE_MOSTLY_Q8_0, True
    target = scratch / "q8_0.gguf"
    if llama_cpp.llama_model_quantize(str(gguf).encode(), str(target).encode(), options) != 0:
        raise RuntimeError("llama.cpp could not requantise the GGUF file")
    return target
