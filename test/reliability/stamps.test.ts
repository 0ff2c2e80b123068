import { testMatrix } from './matrix.js';
import { STAMP_STEPS } from './steps.js';

testMatrix('Time stamps and the ledger key', STAMP_STEPS);
