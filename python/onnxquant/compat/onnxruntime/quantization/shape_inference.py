"""quant_pre_process: shapes, folding and fusion before quantization."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any, Optional

from .... import model as _model

logger = logging.getLogger("onnxquant")


def quant_pre_process(
    input_model: Any = None,
    output_model_path: Any = None,
    skip_optimization: bool = False,
    skip_onnx_shape: bool = False,
    skip_symbolic_shape: bool = False,
    auto_merge: bool = False,
    int_max: int = 2**31 - 1,
    guess_output_rank: bool = False,
    verbose: int = 0,
    save_as_external_data: bool = False,
    all_tensors_to_one_file: bool = False,
    external_data_location: Optional[str] = None,
    external_data_size_threshold: int = 1024,
    **deprecated_kwargs: Any,
) -> None:
    """Prepares a model (a path or a ModelProto) and writes it."""
    if input_model is None:
        input_model = deprecated_kwargs.pop("input_model_path", None)
    if input_model is None:
        raise ValueError("quant_pre_process expects input_model")
    if output_model_path is None:
        raise ValueError("quant_pre_process expects output_model_path")
    for name in deprecated_kwargs:
        raise TypeError(f"quant_pre_process() got an unexpected keyword argument '{name}'")
    options: dict = dict(
        optimize=not skip_optimization,
        static_shapes=not skip_onnx_shape,
        symbolic_shapes=not skip_symbolic_shape,
        auto_merge=auto_merge,
        guess_output_rank=guess_output_rank,
        # Attention and embeddings have quantized forms.
        keep_fused=True,
        # The oldest one whose nodes ONNX Runtime fuses.
        min_opset=11,
        metadata={"onnx.quant.pre_process": "onnxruntime.quant"},
    )
    if int_max != 2**31 - 1:
        options["int_max"] = int_max
    if save_as_external_data:
        options.update(external_data=True, external_data_size_threshold=external_data_size_threshold,
                       file_per_tensor=not all_tensors_to_one_file and external_data_location is None)
        if external_data_location:
            options["external_data_location"] = Path(external_data_location).name
    result = _model.preprocess(input_model, out=str(output_model_path), **options)
    if verbose:
        for change in result.changes:
            logger.info("%(count)d %(what)s (%(pass)s)", change)
