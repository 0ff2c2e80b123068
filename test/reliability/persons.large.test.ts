import { sampled } from '../support/sweeps.js';
import { ALL_FAULTS } from './faults.js';
import { testMatrix } from './matrix.js';
import { PERSON_STEPS } from './steps.js';

testMatrix('Erasures and exports', PERSON_STEPS, ({ title }) =>
  sampled('faults of erasures and exports', ALL_FAULTS, title),
);
