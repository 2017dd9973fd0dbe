"""`from evaluator import *` of ESP-DL v1.x."""

import os
import pickle

import numpy as np
from onnxquant.esp import Evaluator

__all__ = ["Evaluator", "np", "os", "pickle"]
