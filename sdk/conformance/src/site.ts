/** What differs between the sites of the cases. */
export interface Site {
  /** The law of the visitor's region, or null if none is known. */
  readonly law?: string | null;
  readonly country?: string | null;
  /** Version of the cookie policy. */
  readonly version?: string;
  /** Further optional categories, beside `analytics` and `marketing`. */
  readonly added?: readonly string[];
  /** Recipients of `marketing`. */
  readonly recipients?: readonly string[];
  /** Keys of the services, by category. */
  readonly services?: Readonly<Record<string, readonly string[]>>;
  /** Whether each service has a switch. */
  readonly hasSwitches?: boolean;
}

/** The configuration that the service publishes for a site, as far as an SDK reads it. */
export function configurationOf({
  law = null,
  country = null,
  version = 'v1',
  added = [],
  recipients = [],
  services = {},
  hasSwitches = false,
}: Site) {
  const category = (key: string, required = false) => ({
    key,
    required,
    title: key,
    purpose: key,
    recipients: key === 'marketing' ? [...recipients] : [],
    cookies: [],
    services: (services[key] ?? []).map((one) => ({ key: one, name: one, recipient: one, policy_url: null })),
  });
  return {
    language: 'en',
    languages: ['en'],
    validity_days: 180,
    direction: 'ltr' as const,
    banner: {},
    labels: {},
    withdrawal: null,
    controller: { legal_name: 'Shop', contact: 'shop@example.org' },
    categories: [category('necessary', true), ...['analytics', 'marketing', ...added].map((key) => category(key))],
    service_switches: hasSwitches,
    documents: [
      {
        slug: 'cookie-policy',
        kind: 'cookie_policy',
        requires_approval_token: false,
        version: { id: version, language: 'en', title: 'Cookie policy', media_type: 'text/plain' },
      },
    ],
    region: { country, compliance_framework: law },
  };
}
