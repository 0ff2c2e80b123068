export { ConfigError } from './errors.js';
export {
  type Config,
  type Environment,
  loadConfig,
  type MasterKeySource,
  type TracingConfig,
  type WitnessAddress,
} from './load.js';
