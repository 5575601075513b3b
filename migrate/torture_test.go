package migrate

import "flag"

// torture has tests that try a sample of their cases try all of them: make torture.
var torture = flag.Bool("torture", false, "try all cases of tests that otherwise try a sample")
