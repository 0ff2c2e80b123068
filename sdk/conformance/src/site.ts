/** What differs between the sites of the cases. */
export interface Site {
  /** The law of the visitor's region, or null if none is known. */
  readonly law?: string | null;
  readonly country?: string | null;
  /** The rule of the visitor's place by category, in place of consent: `opt_out` or `exempt`. */
  readonly rules?: Readonly<Record<string, string>>;
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
  /** Whether the choices of people who are signed in hold on all their devices. */
  readonly hasAccounts?: boolean;
  /** Version of the notice about the sale of personal data; without it the site has none. */
  readonly saleNotice?: string;
}

/** The configuration that the service publishes for a site, as far as an SDK reads it. */
export function configurationOf({
  law = null,
  country = null,
  rules = {},
  version = 'v1',
  added = [],
  recipients = [],
  services = {},
  hasSwitches = false,
  hasAccounts = false,
  saleNotice,
}: Site) {
  const category = (key: string, required = false) => ({
    key,
    required,
    rule: rules[key],
    ground: rules[key] === 'exempt' ? `why ${key}` : undefined,
    title: key,
    purpose: key,
    recipients: key === 'marketing' ? [...recipients] : [],
    cookies: [],
    services: (services[key] ?? []).map((one) => ({ key: one, name: one, recipient: one, policy_url: null })),
  });
  const document = (slug: string, kind: string, id: string, title: string) => ({
    slug,
    kind,
    requires_approval_token: false,
    version: { id, language: 'en', title, media_type: 'text/plain' },
  });
  return {
    language: 'en',
    languages: ['en'],
    validity_days: 180,
    refusal_days: 200,
    rule_id: Object.keys(rules).length > 0 ? 'here' : undefined,
    direction: 'ltr' as const,
    banner: {},
    labels: {},
    withdrawal: null,
    controller: { legal_name: 'Shop', contact: 'shop@example.org' },
    categories: [category('necessary', true), ...['analytics', 'marketing', ...added].map((key) => category(key))],
    service_switches: hasSwitches,
    accounts: hasAccounts ? { person_space: null } : undefined,
    documents: [
      document('cookie-policy', 'cookie_policy', version, 'Cookie policy'),
      ...(saleNotice === undefined ? [] : [document('do-not-sell', 'do_not_sell', saleNotice, 'Do not sell')]),
    ],
    region: {
      country,
      compliance_framework: law,
      signal_is_request: law === 'ccpa' || Object.values(rules).includes('opt_out'),
    },
  };
}
