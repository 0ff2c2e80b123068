import { testMatrix } from './matrix.js';
import { PERSON_STEPS } from './steps.js';

testMatrix('Erasures and exports', PERSON_STEPS);
