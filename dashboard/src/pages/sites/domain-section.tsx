import { useQuery } from '@tanstack/react-query';
import { dataOf } from '../../api/client.js';
import type { Site } from '../../api/types.js';
import { useApi, useMay } from '../../app-context.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { ActionForm } from '../../ui/action-form.js';
import { Copyable } from '../../ui/copy.js';
import { Loaded } from '../../ui/loaded.js';
import { Notice } from '../../ui/notice.js';
import { Section } from '../../ui/page.js';
import { useAction } from '../../ui/use-action.js';

/** The proof that the domain belongs to the tenant. */
export function DomainSection({ site }: { readonly site: Site }) {
  const { sites } = useMessages();
  const { date } = useFormats();
  return (
    <Section title={sites.domainTitle}>
      {site.verified_at === null ? (
        <OpenProof site={site} />
      ) : (
        <p>
          <strong>{site.domain}</strong>: {sites.domainProved(date(site.verified_at))}
        </p>
      )}
    </Section>
  );
}

function OpenProof({ site }: { readonly site: Site }) {
  const { sites } = useMessages();
  const api = useApi();
  const mayChange = useMay('changeSites');
  const params = { path: { site_id: site.id } };
  const query = useQuery({
    queryKey: ['domain', site.id, site.domain],
    queryFn: () => dataOf(api.GET('/api/v1/sites/{site_id}/domain-verification', { params })),
  });
  const verify = useAction(() => dataOf(api.POST('/api/v1/sites/{site_id}/domain-verification', { params })));
  return (
    <>
      <Notice kind="warning">
        <p>{sites.domainOpen}</p>
      </Notice>
      <Loaded query={query}>
        {({ dns_record }) => (
          <>
            <p>{sites.dnsText}</p>
            <h3>{sites.dnsName}</h3>
            <Copyable text={dns_record.name} label={sites.dnsName} />
            <h3>{sites.dnsValue}</h3>
            <Copyable text={dns_record.value} label={sites.dnsValue} />
            {mayChange ? (
              <ActionForm submit={sites.verify} action={() => verify(undefined)} done={sites.nowVerified}>
                {null}
              </ActionForm>
            ) : null}
          </>
        )}
      </Loaded>
    </>
  );
}
