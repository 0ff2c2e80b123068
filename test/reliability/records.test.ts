import { testMatrix } from './matrix.js';
import { RECORD_STEPS } from './steps.js';

testMatrix('Records and read models', RECORD_STEPS);
