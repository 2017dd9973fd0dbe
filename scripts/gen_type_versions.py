#!/usr/bin/python3
"""Writes lib/Export/TypeVersions.inc: element types that operators took late.

Reads the history of operator schemas that the installed onnx package has, and
adds what versions 18 to 23 of the opset brought. A row says: from this version
on these operands and results take these types; before, they didn't.

Usage: scripts/gen_type_versions.py > lib/Export/TypeVersions.inc
"""

import collections

import onnx
import onnx.defs

NUMBERS = {name.lower(): number for name, number in onnx.TensorProto.DataType.items()}
# Types that the installed package may be too old for.
NUMBERS.update(
    float8e4m3fn=17,
    float8e4m3fnuz=18,
    float8e5m2=19,
    float8e5m2fnuz=20,
    uint4=21,
    int4=22,
    float4e2m1=23,
)
# Strings have no tensor type in the dialect.
IGNORED = {"string", "undefined"}
NEWEST_READ = 17
# Any constant can be an initializer, whatever Constant nodes take.
SKIPPED = {"Constant"}
# Before it was an operand of integers it was an attribute, whose rule decides.
WAS_ATTRIBUTE = {("Split", "split"), ("Tile", "repeats")}

FLOAT8 = "float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz"
INT4 = "uint4 int4"
# Later than the schemas read: (version, operands, results, types, operators).
LATER = [
    (19, "0", "0", FLOAT8, "Cast Identity Reshape"),
    (19, "0 1", "0", FLOAT8, "CastLike"),
    (19, "0", "", FLOAT8, "Shape Size"),
    (19, "", "*", FLOAT8, "If"),
    (19, "*", "*", FLOAT8, "Loop Scan"),
    (19, "0 1", "", "float16 bfloat16", "QuantizeLinear"),
    (19, "2", "0", FLOAT8, "QuantizeLinear"),
    (19, "0 2", "", FLOAT8, "DequantizeLinear"),
    (19, "1", "0", "float16 bfloat16", "DequantizeLinear"),
    (20, "", "0", "bfloat16 " + FLOAT8, "ConstantOfShape"),
    (20, "0", "", "float16 bfloat16 " + FLOAT8, "IsInf"),
    (20, "0", "", FLOAT8, "IsNaN"),
    (20, "0", "0", "bool", "ReduceMax ReduceMin"),
    (21, "0", "0", INT4, "Cast Identity Reshape"),
    (21, "0 1", "0", INT4, "CastLike"),
    (21, "", "0", INT4, "ConstantOfShape"),
    (21, "0", "", INT4, "Shape Size"),
    (21, "", "*", INT4, "If"),
    (21, "*", "*", INT4, "Loop Scan"),
    (21, "0", "0", INT4 + " " + FLOAT8, "Flatten Squeeze Transpose Unsqueeze"),
    (21, "0 2", "0", INT4 + " " + FLOAT8, "Pad"),
    (21, "2", "0", INT4 + " uint16 int16", "QuantizeLinear"),
    (21, "0 2", "", INT4 + " uint16 int16", "DequantizeLinear"),
    (21, "1 4 6", "", "float16 bfloat16", "QLinearMatMul"),
    (21, "0 2 3 5 7", "0", FLOAT8, "QLinearMatMul"),
    (22, "0", "0", "bfloat16",
     "Acos Acosh Asin Asinh Atan Atanh AveragePool Cos Cosh Det Elu "
     "EyeLike GlobalAveragePool GlobalLpPool GlobalMaxPool HardSigmoid HardSwish "
     "LpNormalization LpPool MaxPool Mish RandomNormalLike RandomUniformLike Round "
     "Selu Sin Sinh Softplus Softsign Tan ThresholdedRelu"),
    (22, "", "0", "bfloat16", "RandomNormal RandomUniform"),
    (22, "0", "", "bfloat16", "Bernoulli Multinomial"),
    (22, "0 1", "0", "bfloat16", "GridSample MaxRoiPool RoiAlign"),
    (22, "0 2", "0", "bfloat16", "MaxUnpool NegativeLogLikelihoodLoss"),
    (22, "0 1 2", "0", "bfloat16", "Conv ConvTranspose InstanceNormalization"),
    (22, "0 1 2 3 4", "0", "bfloat16", "DeformConv"),
    (22, "*", "*", "bfloat16", "GRU LSTM RNN"),
    (22, "0 1", "0", FLOAT8, "Dropout"),
    (23, "0", "0", "float4e2m1",
     "Cast Flatten Identity Reshape Squeeze Transpose Unsqueeze"),
    (23, "0 1", "0", "float4e2m1", "CastLike"),
    (23, "", "0", "float4e2m1", "ConstantOfShape"),
    (23, "0", "", "float4e2m1", "Shape Size"),
    (23, "", "*", "float4e2m1", "If"),
    (23, "*", "*", "float4e2m1", "Loop Scan"),
    (23, "0 2", "0", "float4e2m1", "Pad"),
    (23, "2", "0", "float4e2m1", "QuantizeLinear"),
    (23, "0 2", "", "float4e2m1", "DequantizeLinear"),
]


def element_types(schema, parameter):
    """The numbers of the types that a parameter takes."""
    texts = {parameter.typeStr}
    for constraint in schema.type_constraints:
        if constraint.type_param_str == parameter.typeStr:
            texts = set(constraint.allowed_type_strs)
    names = {t[len("tensor(") : -1] for t in texts if t.startswith("tensor(")}
    return {NUMBERS[name] for name in names - IGNORED}


def counterpart(newest, older, index):
    """The parameter of an older form that `newest[index]` was."""
    by_name = {p.name: p for p in older}
    if newest[index].name in by_name:
        return by_name[newest[index].name]
    names = {p.name for p in newest}
    if index < len(older) and older[index].name not in names:
        return older[index]
    return None


def mask_of(parameters, index, shift):
    """The bit of a parameter; all bits from it on if it is variadic."""
    variadic = onnx.defs.OpSchema.FormalParameterOption.Variadic
    if parameters[index].option == variadic:
        return (0xFFFF & ~((1 << index) - 1)) << shift
    return 1 << (index + shift)


def read_history():
    history = collections.defaultdict(list)
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain == "" and schema.since_version <= NEWEST_READ:
            history[schema.name].append(schema)
    for name, schemas in history.items():
        schemas.sort(key=lambda s: s.since_version, reverse=True)
        newest = schemas[0]
        if newest.deprecated or name in SKIPPED:
            continue
        for side, shift in (("inputs", 0), ("outputs", 16)):
            parameters = getattr(newest, side)
            for index in range(len(parameters)):
                if (name, parameters[index].name) in WAS_ATTRIBUTE:
                    continue
                for number in element_types(newest, parameters[index]):
                    since = newest.since_version
                    for schema in schemas[1:]:
                        older = counterpart(parameters, getattr(schema, side), index)
                        if older and number not in element_types(schema, older):
                            break
                        since = schema.since_version
                    if since > schemas[-1].since_version:
                        yield name, since, mask_of(parameters, index, shift), number


def later_mask(text, shift):
    if text == "*":
        return 0xFFFF << shift
    return sum(1 << (int(index) + shift) for index in text.split())


def main():
    types = collections.defaultdict(int)  # (operator, version, params) -> types
    by_type = collections.defaultdict(int)  # (operator, version, type) -> params
    for name, version, mask, number in read_history():
        by_type[name, version, number] |= mask
    for version, operands, results, names, operators in LATER:
        mask = later_mask(operands, 0) | later_mask(results, 16)
        for name in operators.split():
            for type_name in names.split():
                by_type[name, version, NUMBERS[type_name]] |= mask
    for (name, version, number), mask in by_type.items():
        types[name, version, mask] |= 1 << number
    rows = collections.defaultdict(list)  # (version, params, types) -> operators
    for (name, version, mask), bits in types.items():
        rows[version, mask, bits].append(name)
    print("// Written by scripts/gen_type_versions.py: version, operands and results,")
    print("// types, operators.")
    for (version, mask, bits), names in sorted(rows.items()):
        line = f'    {{{version}, 0x{mask:08x}, 0x{bits:08x},'
        print(line)
        text = ""
        for name in sorted(names):
            if len(text) + len(name) > 66:
                print(f'     "{text} "')
                text = name
            else:
                text = f"{text} {name}".strip()
        print(f'     "{text}"}},')


if __name__ == "__main__":
    main()
