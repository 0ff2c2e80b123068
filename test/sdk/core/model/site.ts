import type { Configuration } from '../../../../sdk/core/answers.js';

const category = (key: string, required: boolean) => ({
  key,
  required,
  title: key,
  purpose: key,
  recipients: [],
  cookies: [],
});

/**
 * The configuration of the tests' site, in a region with this law.
 * @param services keys of the services of `marketing`, each with a switch
 */
export function configurationIn(
  compliance_framework: string | null,
  version = 'v1',
  recipients: readonly string[] = [],
  services: readonly string[] = [],
): Configuration {
  return {
    language: 'en',
    languages: ['en'],
    validity_days: 180,
    direction: 'ltr',
    banner: {},
    labels: {},
    withdrawal: null,
    controller: { legal_name: 'Shop', contact: 'shop@example.org' },
    categories: [
      category('necessary', true),
      category('analytics', false),
      {
        ...category('marketing', false),
        recipients: [...recipients],
        services: services.map((one) => ({ key: one, name: one, recipient: one, policy_url: null })),
      },
    ],
    service_switches: services.length > 0,
    documents: [
      {
        slug: 'cookie-policy',
        kind: 'cookie_policy',
        requires_approval_token: false,
        version: { id: version, language: 'en', title: 'Cookie policy', media_type: 'text/plain' },
      },
    ],
    region: { country: null, compliance_framework },
  };
}
