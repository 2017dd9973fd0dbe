// Runs one model under ONNX Runtime as often as asked, in a process of its own: the peer of `onnxq-runner serve`.
//
//   node ort_serve.js JOB.json DATA.bin OUTPUT.bin
//
// JOB: {model, inputs, threads, extra}: the inputs as {name, type, dims, offset, bytes} with their bytes in DATA,
// `extra` further session options. The first line printed is JSON: {load, first, outputs} in milliseconds, the outputs
// in the form of the inputs, in OUTPUT. Then every number on standard input is answered with a line of so many times in
// milliseconds, after the peak of resident memory in KiB. The native session is called directly: a promise and a turn
// of the event loop per run would be charged to small models.
'use strict';
const fs = require('fs');
const path = require('path');
const readline = require('readline');
const {createRequire} = require('module');

const [jobFile, dataFile, outputFile] = process.argv.slice(2);
const find = createRequire(path.join(process.env.ONNXQUANT_CACHE, 'require.js'));
const ort = find('onnxruntime-node');
const {binding, initOrt} = createRequire(find.resolve('onnxruntime-node'))('./binding');

const ARRAYS = {
  float32: Float32Array, float64: Float64Array, int8: Int8Array, uint8: Uint8Array, int16: Int16Array,
  uint16: Uint16Array, int32: Int32Array, uint32: Uint32Array, int64: BigInt64Array, bool: Uint8Array,
};

const job = JSON.parse(fs.readFileSync(jobFile, 'utf8'));
const data = fs.readFileSync(dataFile);
const feeds = {};
for (const tensor of job.inputs) {
  const bytes = new Uint8Array(data.subarray(tensor.offset, tensor.offset + tensor.bytes));
  feeds[tensor.name] = new ort.Tensor(tensor.type, new ARRAYS[tensor.type](bytes.buffer), tensor.dims);
}

const now = () => Number(process.hrtime.bigint()) * 1e-6;

initOrt();
let start = now();
const session = new binding.InferenceSession();
session.loadModel(job.model, {
  graphOptimizationLevel: 'all', intraOpNumThreads: job.threads, interOpNumThreads: 1, executionMode: 'sequential',
  enableCpuMemArena: true, enableMemPattern: true, logSeverityLevel: 3, extra: job.extra,
});
const load = now() - start;
const fetches = {};
for (const output of session.outputMetadata) fetches[output.name] = null;
start = now();
const results = session.run(feeds, fetches, {});
const first = now() - start;

let offset = 0;
const file = fs.openSync(outputFile, 'w');
const outputs = Object.entries(results).map(([name, {type, dims, data: values}]) => {
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  fs.writeSync(file, bytes);
  offset += bytes.length;
  return {name, type, dims: Array.from(dims), offset: offset - bytes.length, bytes: bytes.length};
});
fs.closeSync(file);
fs.writeSync(1, JSON.stringify({load, first, outputs}) + '\n');

function peak() {
  return Number(/VmHWM:\s+(\d+)/.exec(fs.readFileSync('/proc/self/status', 'utf8'))[1]);
}

readline.createInterface({input: process.stdin}).on('line', line => {
  const times = new Float64Array(Number(line));
  for (let run = 0; run < times.length; ++run) {
    const begin = now();
    session.run(feeds, fetches, {});
    times[run] = now() - begin;
  }
  fs.writeSync(1, `${peak()} ${Array.from(times, time => time.toFixed(6)).join(' ')}\n`);
});
