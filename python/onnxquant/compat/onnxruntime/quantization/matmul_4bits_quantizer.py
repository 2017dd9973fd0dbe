"""The module's name in 1.17 to 1.21."""

from .matmul_nbits_quantizer import (  # noqa: F401
    DefaultWeightOnlyQuantConfig, GPTQWeightOnlyQuantConfig, HQQWeightOnlyQuantConfig, MatMul4BitsQuantizer,
    RTNWeightOnlyQuantConfig, WeightOnlyQuantConfig)
