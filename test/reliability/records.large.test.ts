import { sampled } from '../support/sweeps.js';
import { ALL_FAULTS } from './faults.js';
import { testMatrix } from './matrix.js';
import { RECORD_STEPS } from './steps.js';

testMatrix('Records and read models', RECORD_STEPS, ({ title }) => sampled('faults of records', ALL_FAULTS, title));
