"""`python -m onnxquant VERB ...` is `onnxq VERB ...`."""

from ._cli import onnxq

if __name__ == "__main__":
    onnxq()
