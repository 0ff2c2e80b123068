import { configurationOf } from '../../../../sdk/conformance/src/site.js';
import type { Configuration } from '../../../../sdk/core/answers.js';

/**
 * The configuration of the tests' site, in a region with this law.
 * @param services keys of the services of `marketing`, each with a switch
 */
export function configurationIn(
  law: string | null,
  version = 'v1',
  recipients: readonly string[] = [],
  services: readonly string[] = [],
): Configuration {
  return configurationOf({
    law,
    version,
    recipients,
    services: { marketing: services },
    hasSwitches: services.length > 0,
  });
}
