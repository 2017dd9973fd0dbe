// Writes a model as ONNX Runtime's optimizers leave it: node ort_optimize.js MODEL LEVEL OUT
const path = require('path');
const os = require('os');
const cache = process.env.ONNXQUANT_CACHE || path.join(process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache'), 'onnxquant');
const ort = require(path.join(cache, 'node_modules', 'onnxruntime-node'));

const [model, graphOptimizationLevel, optimizedModelFilePath] = process.argv.slice(2);
ort.InferenceSession.create(model, {graphOptimizationLevel, optimizedModelFilePath, logSeverityLevel: 4})
  .then((session) => session.release())
  .catch((error) => {
    console.error(String(error));
    process.exit(1);
  });
