import { sampled } from '../support/sweeps.js';
import { ALL_FAULTS } from './faults.js';
import { testMatrix } from './matrix.js';
import { STAMP_STEPS } from './steps.js';

testMatrix('Time stamps and the ledger key', STAMP_STEPS, ({ title }) =>
  sampled('faults of time stamps', ALL_FAULTS, title),
);
