import { dataOf } from '../../api/client.js';
import type { Site } from '../../api/types.js';
import { useApi, useMay } from '../../app-context.js';
import { useMessages } from '../../i18n/locale.js';
import { ActionForm, type Values } from '../../ui/action-form.js';
import { linesOf, TextInput } from '../../ui/fields.js';
import { Section } from '../../ui/page.js';
import { Facts } from '../../ui/table.js';
import { useAction } from '../../ui/use-action.js';

/** Name and domain of a site, and the origins and addresses that may use its keys. */
export function SettingsSection({ site }: { readonly site: Site }) {
  const { sites, common } = useMessages();
  const api = useApi();
  const mayChange = useMay('changeSites');
  const change = useAction((values: Values) =>
    dataOf(
      api.PATCH('/api/v1/sites/{site_id}', {
        params: { path: { site_id: site.id } },
        body: {
          name: values.text('name'),
          domain: values.text('domain').trim().toLowerCase(),
          allowed_origins: linesOf(values.text('allowed_origins')),
          allowed_ips: linesOf(values.text('allowed_ips')),
        },
      }),
    ),
  );
  return (
    <Section title={sites.settings}>
      {mayChange ? (
        <ActionForm submit={common.save} action={change} done={common.saved}>
          <TextInput name="name" label={sites.name} hint={sites.nameHint} defaultValue={site.name} isRequired />
          <TextInput name="domain" label={sites.domain} hint={sites.domainHint} defaultValue={site.domain} isRequired />
          <TextInput
            name="allowed_origins"
            label={sites.origins}
            hint={sites.originsHint}
            defaultValue={site.allowed_origins.join('\n')}
            rows={3}
            isCode
          />
          <TextInput
            name="allowed_ips"
            label={sites.ips}
            hint={sites.ipsHint}
            defaultValue={site.allowed_ips.join('\n')}
            rows={3}
            isCode
          />
        </ActionForm>
      ) : (
        <Facts
          items={[
            [sites.domain, site.domain],
            [sites.origins, site.allowed_origins.join(', ') || sites.everyOrigin],
            [sites.ips, site.allowed_ips.join(', ') || sites.everyAddress],
          ]}
        />
      )}
    </Section>
  );
}
