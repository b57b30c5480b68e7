"""llama.cpp on the trunk's GGUF: the prebuilt npm package and llama-cpp-python, whichever is given.

Each run is a process of its own, so that no two engines' threads and caches meet; loading is not counted.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

Engine = Callable[[list[int]], tuple[float, float]]
"""Takes a prompt's ids; gives tokens per second of reading it and of writing more."""

_NODE = """
import {getLlama} from "node-llama-cpp";
const {gguf: modelPath, ids, threads, decode} = JSON.parse(process.argv[2]);
const llama = await getLlama({gpu: false, build: "never", logLevel: "error", maxThreads: threads});
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

_PYTHON = """
import json, sys, time
import llama_cpp
asked = json.loads(sys.argv[1])
threads = asked["threads"]
size = {"n_ctx": 2048, "n_batch": 512}
model = llama_cpp.Llama(asked["gguf"], n_threads=threads, n_threads_batch=threads, verbose=False, **size)
start = time.perf_counter()
model.eval(asked["ids"])
token = model.sample(temp=0.0)
read = time.perf_counter() - start
start = time.perf_counter()
for _ in range(asked["decode"]):
    model.eval([token])
    token = model.sample(temp=0.0)
print(json.dumps([read, time.perf_counter() - start]))
"""

_EIGHT_BITS = """
import sys
import llama_cpp
options = llama_cpp.llama_model_quantize_default_params()
options.ftype, options.allow_requantize = llama_cpp.LLAMA_FTYPE_MOSTLY_Q8_0, True
sys.exit(llama_cpp.llama_model_quantize(sys.argv[1].encode(), sys.argv[2].encode(), options))
"""


def engines(
    gguf: Path, scratch: Path, threads: int, node: Path | None, python: Path | None, decode: int
) -> dict[str, Engine]:
    """By name. `node`: a folder with node_modules/node-llama-cpp. `python`: an interpreter that has llama-cpp-python,
    which also makes the Q8_0 file under `scratch`. Raises CalledProcessError where they do not work."""
    files = {"Q4_1": gguf}
    if python is not None:
        files["Q8_0"] = scratch / "q8_0.gguf"
        subprocess.run([python, "-c", _EIGHT_BITS, gguf, files["Q8_0"]], check=True, capture_output=True)
    found: dict[str, Engine] = {}
    for precision, file in files.items():
        if node is not None:
            (node / "speed.mjs").write_text(_NODE)
            found[f"llama.cpp (npm, prebuilt), {precision}"] = _engine(
                ["node", "speed.mjs"], node, file, threads, decode
            )
        if python is not None:
            command = [str(python), "-c", _PYTHON]
            found[f"llama.cpp (from source), {precision}"] = _engine(command, scratch, file, threads, decode)
    return found


def _engine(command: Sequence[str], folder: Path, gguf: Path, threads: int, decode: int) -> Engine:
    def run(ids: list[int]) -> tuple[float, float]:
        asked = json.dumps({"gguf": str(gguf), "ids": ids, "threads": threads, "decode": decode})
        environment = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
        done = subprocess.run(
            [*command, asked], cwd=folder, env=environment, capture_output=True, text=True, check=True
        )
        read, wrote = json.loads(done.stdout.splitlines()[-1])
        return len(ids) / read, decode / wrote

    return run
