// Compares two forms of many models under ONNX Runtime, in one process.
//
//   node ort_compare.js JOBS.jsonl DATA.bin [FIRST]
//
// A line of JOBS: {name, original, exported, inputs, expected}, the tensors as
// {name, type, dims, offset, bytes} with their bytes in DATA. A line of output per job:
// {index, result, detail}, with result equal, close, different, random (the original
// disagrees with itself), broken (only the exported form doesn't run), refused (neither
// runs), expected (only the exported form runs, and gives the expected outputs). A line
// {index, begin: stage} before each stage tells the caller where a crash happened.
'use strict';
const fs = require('fs');
const path = require('path');
const {createRequire} = require('module');

const [jobsFile, dataFile, first] = process.argv.slice(2);
const cache = process.env.ONNXQUANT_CACHE;
const ort = createRequire(path.join(cache, 'require.js'))('onnxruntime-node');

const ARRAYS = {
  float32: Float32Array, float64: Float64Array, int8: Int8Array, uint8: Uint8Array, int16: Int16Array,
  uint16: Uint16Array, int32: Int32Array, uint32: Uint32Array, int64: BigInt64Array, uint64: BigUint64Array,
  bool: Uint8Array, float16: typeof Float16Array === 'undefined' ? Uint16Array : Float16Array,
};

function say(record) {
  fs.writeSync(1, JSON.stringify(record) + '\n');
}

function bytesOf({offset, bytes}, data) {
  return new Uint8Array(data.subarray(offset, offset + bytes));
}

function readInputs(job, data) {
  const feeds = {};
  for (const tensor of job.inputs)
    feeds[tensor.name] =
        new ort.Tensor(tensor.type, new ARRAYS[tensor.type](bytesOf(tensor, data).buffer), tensor.dims);
  return feeds;
}

// A graph optimized differently may round differently, so both forms run as
// written; kernels that only exist after optimization get a second try with it.
async function evaluate(file, feeds, level) {
  const session = await ort.InferenceSession.create(
      file, {graphOptimizationLevel: level, intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: 4});
  try {
    const results = await session.run(feeds);
    const outputs = session.outputNames.map(name => {
      const {type, dims, data} = results[name];
      const plain = type === 'string' ? Array.from(data) :
          new Uint8Array(data.buffer, data.byteOffset, data.byteLength).slice();
      return {name, type, dims: Array.from(dims), data: plain};
    });
    return outputs;
  } finally {
    await session.release();
  }
}

function values(output) {
  return output.type === 'string' ? output.data : new ARRAYS[output.type](output.data.buffer);
}

// null where equal, else the largest relative difference with its place as text, or only
// a text where the outputs are not of one kind.
function compare(a, b) {
  if (a.length !== b.length) return {text: `expects ${a.length} outputs, but got ${b.length}`};
  let worst = null;
  for (let i = 0; i < a.length; ++i) {
    const [x, y] = [a[i], b[i]];
    if (x.name !== y.name) return {text: `expects output ${x.name}, but got ${y.name}`};
    if (x.type !== y.type || x.dims.join() !== y.dims.join())
      return {text: `${x.name}: expects ${x.type}[${x.dims}], but got ${y.type}[${y.dims}]`};
    const [u, v] = [values(x), values(y)];
    for (let k = 0; k < u.length; ++k) {
      if (u[k] === v[k] || (u[k] !== u[k] && v[k] !== v[k])) continue;
      if (typeof u[k] === 'string') return {text: `${x.name}[${k}] differs`};
      const difference = Math.abs(Number(u[k]) - Number(v[k]));
      const relative = difference / Math.max(Math.abs(Number(u[k])), 1e-6);
      if (!worst || !(relative <= worst.relative))
        worst = {relative, text: `${x.name}[${k}]: ${u[k]} and ${v[k]}`};
    }
  }
  return worst;
}

async function runJob(index, job, data) {
  const feeds = readInputs(job, data);
  let original, refusal, level = 'disabled';
  say({index, begin: 'original'});
  try {
    original = await evaluate(job.original, feeds, level);
  } catch {
    level = 'all';
    try {
      original = await evaluate(job.original, feeds, level);
    } catch (error) {
      refusal = error.message;
    }
  }
  say({index, begin: 'exported'});
  let exported;
  try {
    exported = await evaluate(job.exported, feeds, level);
  } catch (error) {
    return refusal ? {result: 'refused', detail: refusal} : {result: 'broken', detail: error.message};
  }
  if (refusal) {
    if (!job.expected.length) return {result: 'refused', detail: refusal};
    const expected = job.expected.map(tensor => ({...tensor, data: bytesOf(tensor, data)}));
    const difference = compare(expected, exported);
    return !difference || difference.relative <= 1e-3 ? {result: 'expected'} :
                                                        {result: 'different', detail: difference.text};
  }
  const difference = compare(original, exported);
  if (!difference) return {result: 'equal'};
  if (difference.relative === undefined) return {result: 'different', detail: difference.text};
  if (compare(original, await evaluate(job.original, feeds, level))) return {result: 'random'};
  return {result: difference.relative <= 1e-5 ? 'close' : 'different', detail: difference.text};
}

async function main() {
  const jobs = fs.readFileSync(jobsFile, 'utf8').split('\n').filter(line => line).map(line => JSON.parse(line));
  const data = fs.readFileSync(dataFile);
  for (let index = Number(first || 0); index < jobs.length; ++index)
    say({index, ...await runJob(index, jobs[index], data)});
}

main().catch(error => {
  console.error(`error: ${error.message}`);
  process.exit(1);
});
