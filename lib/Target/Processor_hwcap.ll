; What Linux tells of other processors. A program without an operating system
; can't ask: it is taken to be linked for the processor that it runs on.

declare extern_weak i64 @getauxval(i64)

define internal void @onnxq_processor(ptr %words) {
  %there = icmp ne ptr @getauxval, null
  br i1 %there, label %ask, label %trust

ask:
  %first = call i64 @getauxval(i64 16)
  store i64 %first, ptr %words, align 4
  %second = call i64 @getauxval(i64 26)
  %second.place = getelementptr i32, ptr %words, i64 2
  store i64 %second, ptr %second.place, align 4
  ret void

trust:
  store i64 -1, ptr %words, align 4
  %rest = getelementptr i32, ptr %words, i64 2
  store i64 -1, ptr %rest, align 4
  ret void
}
