// Runs models under ONNX Runtime and stores what they give.
//
//   node ort_run.js JOBS.jsonl DATA.bin OUTPUT.bin [FIRST]
//
// A line of JOBS: {model, inputs[, level]}, the tensors as {name, type, dims, offset, bytes}
// with their bytes in DATA. A line of output per job: {index, outputs} with tensors of the same
// form in OUTPUT, or {index, refusal}.
//
// Graphs run as they are, unless `level` asks for optimization. Sums of products of bytes saturate in
// 16 bits on processors without VNNI; the option below prevents that, but for QLinearConv and
// QLinearMatMul it does so in an optimization, of level 'extended'. Level 'all' is what users have.
'use strict';
const fs = require('fs');
const path = require('path');
const {createRequire} = require('module');

const [jobsFile, dataFile, outputFile, first] = process.argv.slice(2);
const ort = createRequire(path.join(process.env.ONNXQUANT_CACHE, 'require.js'))('onnxruntime-node');

const ARRAYS = {
  float32: Float32Array, float64: Float64Array, int8: Int8Array, uint8: Uint8Array, int16: Int16Array,
  uint16: Uint16Array, int32: Int32Array, uint32: Uint32Array, int64: BigInt64Array, uint64: BigUint64Array,
  bool: Uint8Array, float16: typeof Float16Array === 'undefined' ? Uint16Array : Float16Array,
};

async function main() {
  const jobs = fs.readFileSync(jobsFile, 'utf8').split('\n').filter(line => line).map(line => JSON.parse(line));
  const data = fs.readFileSync(dataFile);
  const output = fs.openSync(outputFile, 'a');
  let offset = fs.fstatSync(output).size;
  for (let index = Number(first || 0); index < jobs.length; ++index) {
    const record = {index};
    try {
      const feeds = {};
      for (const tensor of jobs[index].inputs) {
        const bytes = new Uint8Array(data.subarray(tensor.offset, tensor.offset + tensor.bytes));
        feeds[tensor.name] = new ort.Tensor(tensor.type, new ARRAYS[tensor.type](bytes.buffer), tensor.dims);
      }
      const session = await ort.InferenceSession.create(
          jobs[index].model,
          {
            graphOptimizationLevel: jobs[index].level || 'disabled', intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: 4,
            extra: {session: {x64quantprecision: jobs[index].level === 'all' ? '0' : '1'}},
          });
      const results = await session.run(feeds);
      record.outputs = session.outputNames.map(name => {
        const {type, dims, data: values} = results[name];
        const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
        fs.writeSync(output, bytes);
        offset += bytes.length;
        return {name, type, dims: Array.from(dims), offset: offset - bytes.length, bytes: bytes.length};
      });
      await session.release();
    } catch (error) {
      record.refusal = error.message;
    }
    fs.writeSync(1, JSON.stringify(record) + '\n');
  }
}

main().catch(error => {
  console.error(`error: ${error.message}`);
  process.exit(1);
});
