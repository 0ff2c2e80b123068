import { testMatrix } from './matrix.js';
import { SEAL_STEPS } from './steps.js';

testMatrix('Merkle batches', SEAL_STEPS);
