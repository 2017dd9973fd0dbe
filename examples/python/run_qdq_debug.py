"""Compares weights and activations of a float model and a quantized one.

    python -m onnxquant.compat run_qdq_debug.py --float_model F --qdq_model Q --calibrate_dataset FOLDER
"""

import argparse

from onnxruntime.quantization.qdq_loss_debug import (
    collect_activations,
    compute_activation_error,
    compute_weight_error,
    create_activation_matching,
    create_weight_matching,
    modify_model_output_intermediate_tensors,
)
from resnet50_data_reader import ResNet50DataReader


def activations(path, reader):
    augmented = path + "_save_tensors.onnx"
    modify_model_output_intermediate_tensors(path, augmented)
    reader.rewind()
    return collect_activations(augmented, reader)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--float_model", required=True)
    parser.add_argument("--qdq_model", required=True)
    parser.add_argument("--calibrate_dataset", default="./test_images")
    args = parser.parse_args()
    print("------------------------------------------------\n")
    print("Comparing weights of float model vs qdq model.....")
    for name, error in compute_weight_error(create_weight_matching(args.float_model, args.qdq_model)).items():
        print(f"Cross model error of '{name}': {error}\n")
    print("------------------------------------------------\n")
    print("Comparing activations of float model vs qdq model.....")
    reader = ResNet50DataReader(args.calibrate_dataset, args.float_model)
    matching = create_activation_matching(activations(args.qdq_model, reader), activations(args.float_model, reader))
    for name, errors in compute_activation_error(matching).items():
        print(f"Cross model error of '{name}': {errors['xmodel_err']} \n")
        print(f"QDQ error of '{name}': {errors['qdq_err']} \n")


if __name__ == "__main__":
    main()
