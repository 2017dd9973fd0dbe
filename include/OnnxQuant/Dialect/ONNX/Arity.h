// How many operands and results an op's definition has, read off the traits
// that TableGen gave it.

#ifndef ONNXQUANT_DIALECT_ONNX_ARITY_H
#define ONNXQUANT_DIALECT_ONNX_ARITY_H

#include "mlir/IR/OpDefinition.h"

namespace onnxquant::onnx {

/// A fixed number of values, followed by any number of them if `variadic`.
struct Arity {
  unsigned fixed = 0;
  bool variadic = false;
};

namespace detail {
constexpr unsigned maxArity = 24;

template <typename Op, template <typename> class Trait>
constexpr bool hasTrait = std::is_base_of_v<Trait<Op>, Op>;

template <typename Op, unsigned n = 2> constexpr Arity countOperands() {
  if constexpr (n == maxArity)
    return {0, true};
  else if constexpr (hasTrait<Op, mlir::OpTrait::NOperands<n>::template Impl>)
    return {n, false};
  else if constexpr (hasTrait<Op, mlir::OpTrait::AtLeastNOperands<
                                      n - 1>::template Impl>)
    return {n - 1, true};
  else
    return countOperands<Op, n + 1>();
}

template <typename Op, unsigned n = 2> constexpr Arity countResults() {
  if constexpr (n == maxArity)
    return {0, true};
  else if constexpr (hasTrait<Op, mlir::OpTrait::NResults<n>::template Impl>)
    return {n, false};
  else if constexpr (hasTrait<Op, mlir::OpTrait::AtLeastNResults<
                                      n - 1>::template Impl>)
    return {n - 1, true};
  else
    return countResults<Op, n + 1>();
}
} // namespace detail

template <typename Op> constexpr Arity operandArityOf() {
  if constexpr (detail::hasTrait<Op, mlir::OpTrait::ZeroOperands>)
    return {0, false};
  else if constexpr (detail::hasTrait<Op, mlir::OpTrait::OneOperand>)
    return {1, false};
  else
    return detail::countOperands<Op>();
}

template <typename Op> constexpr Arity resultArityOf() {
  if constexpr (detail::hasTrait<Op, mlir::OpTrait::ZeroResults>)
    return {0, false};
  else if constexpr (detail::hasTrait<Op, mlir::OpTrait::OneResult>)
    return {1, false};
  else
    return detail::countResults<Op>();
}

} // namespace onnxquant::onnx

#endif // ONNXQUANT_DIALECT_ONNX_ARITY_H
