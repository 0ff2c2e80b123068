import { describeEventLogContract } from './contract.js';
import { startPostgresFixture } from './postgres-fixture.js';

describeEventLogContract('postgres', startPostgresFixture);
