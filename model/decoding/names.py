"""The decoders by the names that commands and requests use."""

from __future__ import annotations

from collections.abc import Mapping

from model.decoding import autoregressive, diffusion, draft_verify, full_canvas, uniform_noise
from model.decoding.request import Decoder

DECODERS: Mapping[str, Decoder] = {
    "ar": autoregressive.generate,
    "diffusion": diffusion.generate,
    "draft_verify": draft_verify.generate,
    "full_canvas": full_canvas.generate,
    "uniform_noise": uniform_noise.generate,
}
