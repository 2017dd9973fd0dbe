"""`python -m onnxruntime.quantization.preprocess`."""

from __future__ import annotations

import argparse
import logging
import sys

from .shape_inference import quant_pre_process

logger = logging.getLogger("onnxquant")


def _truth(text: str) -> bool:
    values = {"true": True, "1": True, "false": False, "0": False}
    if text.lower() not in values:
        raise argparse.ArgumentTypeError(f"Expected true, false, 1, or 0, but got '{text}'")
    return values[text.lower()]


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Prepares a float model for quantization.")
    parser.add_argument("--input", required=True, help="the model to read")
    parser.add_argument("--output", required=True, help="the model to write")
    for name, text in (("skip_optimization", "leave out folding and fusion"),
                       ("skip_onnx_shape", "leave out static shapes"),
                       ("skip_symbolic_shape", "leave out shapes with names")):
        parser.add_argument(f"--{name}", type=_truth, nargs="?", const=True, default=False, help=text)
    parser.add_argument("--auto_merge", action="store_true", help="dimensions that meet are the same")
    parser.add_argument("--int_max", type=int, default=2**31 - 1, help="ends of slices from here on mean no end")
    parser.add_argument("--guess_output_rank", action="store_true", help="unknown operators keep the rank")
    parser.add_argument("--verbose", type=int, default=0, help="0 to 3")
    parser.add_argument("--save_as_external_data", action="store_true", help="weights beside the model")
    parser.add_argument("--all_tensors_to_one_file", action="store_true", help="all of them in one file")
    parser.add_argument("--external_data_location", default=None, help="the name of that file")
    parser.add_argument("--external_data_size_threshold", type=int, default=1024, help="bytes from which on")
    return parser.parse_args()


def main() -> None:
    args = parse_arguments()
    if args.verbose:
        logging.basicConfig(format="%(message)s")
        logger.setLevel(logging.INFO)
    if args.skip_optimization and args.skip_onnx_shape and args.skip_symbolic_shape:
        print("Skipping all three steps, nothing to be done. Quitting...", file=sys.stderr)
        return
    quant_pre_process(
        args.input, args.output, args.skip_optimization, args.skip_onnx_shape, args.skip_symbolic_shape,
        args.auto_merge, args.int_max, args.guess_output_rank, args.verbose, args.save_as_external_data,
        args.all_tensors_to_one_file, args.external_data_location, args.external_data_size_threshold,
    )


if __name__ == "__main__":
    main()
