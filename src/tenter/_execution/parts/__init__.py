"""Parts of a result, each made of what it reads of the input, with the bits of the whole: for arrays that are not in
memory at once. A part is a plain value, which another process can make."""
