# The checkout's commit as a C++ string literal, written anew only where it has
# changed: cmake -DSOURCE=... -DOUT=... -P this
execute_process(COMMAND git -C ${SOURCE} rev-parse --short=10 HEAD
                OUTPUT_VARIABLE commit ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
file(CONFIGURE OUTPUT ${OUT} CONTENT "\"${commit}\"\n")
