# The start of a program on Xtensa's Linux, and its calls of the system: the
# number in a2, then a6, a3, a4; what comes back is in a2.

	.text
	.p2align 2
	.global systemCall
systemCall:
	entry a1, 32
	or a6, a3, a3
	or a3, a4, a4
	or a4, a5, a5
	syscall
	retw.n

	.section .literal.start,"ax",@progbits
	.p2align 2
.Lbegin:
	.long begin

	.text
	.p2align 2
	.global _start
_start:
	movi a0, 0
	l32r a4, .Lbegin
	callx8 a4
	ill

	.section .note.GNU-stack,"",@progbits
