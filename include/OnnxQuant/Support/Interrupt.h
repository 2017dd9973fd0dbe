// Ctrl-C and the other ways to ask a program to end.

#ifndef ONNXQUANT_SUPPORT_INTERRUPT_H
#define ONNXQUANT_SUPPORT_INTERRUPT_H

#include <functional>

namespace onnxquant {

/// From now on SIGINT, SIGTERM and SIGHUP end this process with status 128 and
/// the signal's number, without its temporaries: at once, or, if the work asks
/// for interrupts by itself, within a second. A second signal ends it at once.
void installInterrupts();

/// For work that ends by itself when this says so, within so many milliseconds.
std::function<bool()> pollInterrupts(int graceMilliseconds = 700);

/// What is left to do when a process is asked to end: while this exists, the
/// words are said on a thread of their own and the process ends, without an
/// error message and however busy its other threads are. What they say must be
/// quick: after a second, or with the second signal, the process ends anyway.
class LastWords {
public:
  explicit LastWords(std::function<void()> words);
  /// Nothing is said from now on. Doesn't return if it is being said.
  ~LastWords();
  LastWords(const LastWords &) = delete;
  LastWords &operator=(const LastWords &) = delete;

  /// Other words instead.
  void change(std::function<void()> words);
};

/// The exit status of work that ended with `status`: that of the interrupt, if
/// there was one.
int interruptedStatus(int status);

} // namespace onnxquant

#endif // ONNXQUANT_SUPPORT_INTERRUPT_H
