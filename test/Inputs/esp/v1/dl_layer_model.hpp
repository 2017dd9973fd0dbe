// The interface of ESP-DL v1.x that generated code uses, without its kernels: a
// tensor knows whether its memory is there, and a call needs that of its inputs.
#pragma once

#include "dl_constant.hpp"
#include <stdio.h>
#include <stdlib.h>

namespace dl
{
typedef enum { PADDING_NOT_SET, PADDING_VALID, PADDING_SAME_BEGIN, PADDING_SAME_END } padding_type_t;

template <typename T> struct Tensor
{
    bool isThere = false;
    void free_element() { isThere = false; }
};

namespace layer
{
template <typename T> struct Model
{
    virtual ~Model() {}
    virtual void build(Tensor<T> &input) = 0;
    virtual void call(Tensor<T> &input) = 0;
    void forward(Tensor<T> &input)
    {
        this->build(input);
        this->call(input);
    }
};

template <typename T> struct Recorded
{
    Tensor<T> output;
    Tensor<T> &get_output() { return output; }
    void use(Tensor<T> &input)
    {
        if (!input.isThere)
        {
            printf("an input was freed\n");
            exit(1);
        }
    }
};

template <typename T> struct Unary : Recorded<T>
{
    void build(Tensor<T> &) {}
    void call(Tensor<T> &input)
    {
        this->use(input);
        this->output.isThere = true;
    }
};

template <typename T> struct Binary : Recorded<T>
{
    void build(Tensor<T> &, Tensor<T> &) {}
    void call(Tensor<T> &first, Tensor<T> &second)
    {
        this->use(first);
        this->use(second);
        this->output.isThere = true;
    }
};

#define WINDOWED(NAME)                                                                                                 \
    template <typename T, typename B = T> struct NAME : Unary<T>                                                       \
    {                                                                                                                  \
        NAME(int, const Filter<T> *, const Bias<B> * = NULL, const Activation<T> * = NULL,                             \
             padding_type_t = PADDING_VALID, std::vector<int> = {}, int = 1, int = 1, const char * = NULL)             \
        {                                                                                                              \
        }                                                                                                              \
    };
WINDOWED(Conv2D)
WINDOWED(DepthwiseConv2D)

template <typename T, typename B = T> struct FullyConnected : Unary<T>
{
    FullyConnected(int, const Filter<T> *, const Bias<B> * = NULL, const Activation<T> * = NULL, bool = true,
                   const char * = NULL)
    {
    }
};
template <typename T> struct AvgPool2D : Unary<T>
{
    AvgPool2D(int, std::vector<int>, padding_type_t = PADDING_VALID, std::vector<int> = {}, int = 1, int = 1) {}
};
template <typename T> struct MaxPool2D : Unary<T>
{
    MaxPool2D(std::vector<int>, padding_type_t = PADDING_VALID, std::vector<int> = {}, int = 1, int = 1) {}
};
template <typename T> struct GlobalAveragePool2D : Unary<T>
{
    GlobalAveragePool2D(int) {}
};
template <typename T> struct GlobalMaxPool2D : Unary<T>
{
};
#define PAIRED(NAME)                                                                                                   \
    template <typename T> struct NAME : Binary<T>                                                                      \
    {                                                                                                                  \
        NAME(int, const Activation<T> * = NULL) {}                                                                     \
    };
PAIRED(Add2D)
PAIRED(Sub2D)
PAIRED(Mul2D)
template <typename T> struct Concat : Recorded<T>
{
    Concat(int) {}
    void build(std::vector<Tensor<T> *>) {}
    void call(std::vector<Tensor<T> *> inputs)
    {
        for (Tensor<T> *input : inputs)
            this->use(*input);
        this->output.isThere = true;
    }
};
template <typename T> struct Reshape : Unary<T>
{
    Reshape(std::vector<int>) {}
};
template <typename T> struct Transpose : Unary<T>
{
    Transpose(std::vector<int>) {}
};
template <typename T> struct Relu : Unary<T>
{
};
template <typename T> struct LeakyRelu : Unary<T>
{
    LeakyRelu(int, int) {}
};
template <typename T> struct Softmax : Unary<T>
{
    Softmax(int) {}
};
} // namespace layer
} // namespace dl
