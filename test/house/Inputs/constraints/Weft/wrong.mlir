// C9 of weft.conv
// expected-error @+1 {{there is no such constraint}}
weft.conv

// -----
// C1 of weft.softmax
weft.softmax

// -----
// C1 of weft.cumsum
// expected-error @+1 {{of another operation}}
weft.softmax

// -----
// C1 of weft.iota
// expected-error @+1 {{this one counts}}
weft.iota
