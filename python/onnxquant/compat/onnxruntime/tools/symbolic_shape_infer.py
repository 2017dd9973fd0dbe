"""`SymbolicShapeInference.infer_shapes(model)` and `python -m onnxruntime.tools.symbolic_shape_infer`."""

from __future__ import annotations

import argparse
import logging
import os
from typing import Any

from ..quantization.quant_utils import with_shapes

logger = logging.getLogger("onnxquant")


class SymbolicShapeInference:
    """Shapes of all tensors, with names for sizes that are open."""

    @staticmethod
    def infer_shapes(in_mp: Any, int_max: int = 2**31 - 1, auto_merge: bool = False, guess_output_rank: bool = False,
                     verbose: int = 0) -> Any:
        """A ModelProto with the shapes of the given one, which stays as it is."""
        options = {"int_max": int_max} if int_max != 2**31 - 1 else {}
        result = with_shapes(in_mp, auto_merge=auto_merge, guess_output_rank=guess_output_rank, **options)
        if verbose:
            logger.info("shapes of %d tensors are known", len(result.graph.value_info) + len(result.graph.output))
        return result


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Infers the shapes of a model's tensors.")
    parser.add_argument("--input", required=True, help="the model to read")
    parser.add_argument("--output", help="the model to write; without it only errors are told")
    parser.add_argument("--auto_merge", action="store_true", help="dimensions that meet are the same")
    parser.add_argument("--int_max", type=int, default=2**31 - 1, help="ends of slices from here on mean no end")
    parser.add_argument("--guess_output_rank", action="store_true", help="unknown operators keep the rank")
    parser.add_argument("--verbose", type=int, default=0, help="0 to 3")
    parser.add_argument("--save_as_external_data", action="store_true", help="weights beside the model")
    parser.add_argument("--all_tensors_to_one_file", action="store_true", help="all of them in one file")
    parser.add_argument("--external_data_location", default="./", help="the name of that file")
    parser.add_argument("--external_data_size_threshold", type=int, default=1024, help="bytes from which on")
    return parser.parse_args()


def main() -> None:
    args = parse_arguments()
    if args.verbose:
        logging.basicConfig(format="%(message)s")
        logger.setLevel(logging.INFO)
    import onnx

    result = SymbolicShapeInference.infer_shapes(
        onnx.load(args.input), args.int_max, args.auto_merge, args.guess_output_rank, args.verbose)
    if not args.output:
        return
    if args.save_as_external_data:
        name = os.path.basename(args.external_data_location)
        onnx.save_model(result, args.output, save_as_external_data=True,
                        all_tensors_to_one_file=args.all_tensors_to_one_file,
                        location=name if args.all_tensors_to_one_file and name not in ("", ".") else None,
                        size_threshold=args.external_data_size_threshold)
    else:
        onnx.save(result, args.output)


if __name__ == "__main__":
    main()
