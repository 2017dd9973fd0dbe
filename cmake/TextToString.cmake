# A text file as a C++ string literal: cmake -DIN=... -DOUT=... -P this
file(READ ${IN} text)
file(WRITE ${OUT} "R\"text(${text})text\"\n")
