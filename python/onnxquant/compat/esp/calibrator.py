"""`from calibrator import *` of ESP-DL v1.x."""

import os
import pickle

import numpy as np
from onnxquant.esp import Calibrator

__all__ = ["Calibrator", "np", "os", "pickle"]
