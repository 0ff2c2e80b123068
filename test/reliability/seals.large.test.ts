import { sampled } from '../support/sweeps.js';
import { ALL_FAULTS } from './faults.js';
import { testMatrix } from './matrix.js';
import { SEAL_STEPS } from './steps.js';

testMatrix('Merkle batches', SEAL_STEPS, ({ title }) => sampled('faults of batches', ALL_FAULTS, title));
