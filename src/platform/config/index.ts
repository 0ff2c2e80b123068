export {
  type Config,
  type Environment,
  loadConfig,
  type MailConfig,
  type MasterKeySource,
  type TracingConfig,
  type WitnessAddress,
} from './load.js';
export { variables } from './variables.js';
