import { sampled } from '../support/sweeps.js';
import { ALL_FAULTS } from './faults.js';
import { testMatrix } from './matrix.js';
import { ROLL_UP_STEPS } from './steps.js';

// A time stamp for each of hundreds of batches would take most of the time.
testMatrix('Roll-ups', ROLL_UP_STEPS, ({ title }) => sampled('faults of roll-ups', ALL_FAULTS, title), {
  STAMP_INTERVAL_MS: '1000',
});
