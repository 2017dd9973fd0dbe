// What ONNX Runtime's MinMax calibrator does, without its Python: runs a model whose outputs are the extremes of its
// tensors (bench/ort_calibration.py makes it) over samples, and keeps the extremes of all.
//
//   node ort_calibrate.js JOB.json
//
// JOB: {model, input, dims, data, offset, samples, threads}: float32 samples of `dims` one after the other in the file
// `data` from `offset` on, for the input `input`; 0 threads: as many as ONNX Runtime takes by itself. Prints JSON:
// seconds in all, those of loading the model, peak of resident memory in KiB, and {name: [min, max]}.
'use strict';
const fs = require('fs');
const path = require('path');
const {createRequire} = require('module');

const find = createRequire(path.join(process.env.ONNXQUANT_CACHE, 'require.js'));
const ort = find('onnxruntime-node');
const {binding, initOrt} = createRequire(find.resolve('onnxruntime-node'))('./binding');

const job = JSON.parse(fs.readFileSync(process.argv[2], 'utf8'));
const elements = job.dims.reduce((all, size) => all * size, 1);
const now = () => Number(process.hrtime.bigint()) * 1e-9;

initOrt();
const start = now();
// The calibrator turns optimizations off, so that all tensors are there.
const options = {graphOptimizationLevel: 'disabled', executionMode: 'sequential', logSeverityLevel: 3};
if (job.threads > 0) options.intraOpNumThreads = job.threads;
const session = new binding.InferenceSession();
session.loadModel(job.model, options);
const load = now() - start;
const fetches = {};
for (const output of session.outputMetadata) fetches[output.name] = null;

const file = fs.openSync(job.data, 'r');
const ranges = {};
for (let sample = 0; sample < job.samples; ++sample) {
  const values = new Float32Array(elements);
  fs.readSync(file, values, 0, 4 * elements, job.offset + 4 * elements * sample);
  const results = session.run({[job.input]: new ort.Tensor('float32', values, job.dims)}, fetches, {});
  for (const [name, {data}] of Object.entries(results)) {
    const [, tensor, which] = /^(.*)_(ReduceMin|ReduceMax)$/.exec(name) || [];
    if (!tensor) continue;
    const range = ranges[tensor] || (ranges[tensor] = [Infinity, -Infinity]);
    if (which === 'ReduceMin') range[0] = Math.min(range[0], data[0]);
    else range[1] = Math.max(range[1], data[0]);
  }
}
fs.closeSync(file);
const peak = Number(/VmHWM:\s+(\d+)/.exec(fs.readFileSync('/proc/self/status', 'utf8'))[1]);
process.stdout.write(JSON.stringify({seconds: now() - start, load, peak, ranges}) + '\n');
