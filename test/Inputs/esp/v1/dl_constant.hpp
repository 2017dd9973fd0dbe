// Coefficients of ESP-DL v1.x as generated code declares them.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <vector>

namespace dl
{
typedef enum { Linear, ReLU, LeakyReLU, PReLU } activation_type_t;

template <typename T> struct Filter
{
    Filter(const T *element, int exponent, std::vector<int> shape, std::vector<int> dilation) : element(element) {}
    Filter(const T *element, const int8_t *exponents, int channels, std::vector<int> shape, std::vector<int> dilation)
        : element(element)
    {
    }
    const T *element;
};
template <typename T> struct Bias
{
    Bias(const T *element, int exponent, std::vector<int> shape) : element(element) {}
    const T *element;
};
template <typename T> struct Activation
{
    Activation(activation_type_t type, const T *element = NULL, int exponent = 0, std::vector<int> shape = {})
        : element(element)
    {
    }
    const T *element;
};
} // namespace dl
