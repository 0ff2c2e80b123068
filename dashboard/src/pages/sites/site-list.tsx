import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { dataOf } from '../../api/client.js';
import type { Site } from '../../api/types.js';
import { useApi, useMay } from '../../app-context.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { useSites } from '../../shell/use-sites.js';
import { ActionForm } from '../../ui/action-form.js';
import { Badge } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { TextInput } from '../../ui/fields.js';
import { Loaded } from '../../ui/loaded.js';
import { Empty, Section } from '../../ui/page.js';
import { Table } from '../../ui/table.js';
import { useAction } from '../../ui/use-action.js';
import { domainIn } from './domain-in.js';

/** The sites of the tenant, and how to add one. */
export function SiteList() {
  const { sites, common } = useMessages();
  const { date } = useFormats();
  const query = useSites();
  const mayChange = useMay('changeSites');
  return (
    <Section title={sites.list} actions={mayChange && (query.data?.length ?? 0) > 0 ? <Ways /> : null}>
      <Loaded query={query}>
        {(items) =>
          items.length === 0 ? (
            <Empty title={sites.emptyTitle}>
              <p>{mayChange ? sites.emptyText : sites.emptyReader}</p>
              {mayChange ? <Ways /> : null}
            </Empty>
          ) : (
            <Table
              label={sites.list}
              items={items}
              keyOf={({ id }) => id}
              columns={[
                {
                  label: sites.name,
                  cell: ({ id, name }) => (
                    <Link to="/sites/$siteId" params={{ siteId: id }}>
                      {name}
                    </Link>
                  ),
                },
                { label: sites.domain, cell: ({ domain }) => domain },
                { label: common.state, cell: (site) => <SiteState site={site} /> },
                { label: common.created, phone: 'labelled', cell: ({ created_at }) => date(created_at) },
              ]}
            />
          )
        }
      </Loaded>
    </Section>
  );
}

function SiteState({ site }: { readonly site: Site }) {
  const { sites } = useMessages();
  if (site.verified_at === null) return <Badge kind="warning">{sites.notVerified}</Badge>;
  if (site.configuration === null) return <Badge kind="warning">{sites.notConfigured}</Badge>;
  return <Badge kind="good">{sites.ready}</Badge>;
}

/** Both ways to a new site: the guide, and the site alone. */
function Ways() {
  const { wizard } = useMessages();
  return (
    <div className="actions">
      <Link className="button button-primary" to="/sites/new">
        {wizard.open}
      </Link>
      <AddSite />
    </div>
  );
}

const ORIGIN_OF_DOMAIN = { allowed_origins: 'domain' };

function AddSite() {
  const { sites } = useMessages();
  const api = useApi();
  const navigate = useNavigate();
  const [isOpen, setOpen] = useState(false);
  const create = useAction((body: { name: string; domain: string }) =>
    dataOf(api.POST('/api/v1/sites', { body: { ...body, allowed_origins: [`https://${body.domain}`] } })),
  );
  return (
    <>
      <Button onPress={() => setOpen(true)}>{sites.add}</Button>
      <Dialog title={sites.add} isOpen={isOpen} onClose={() => setOpen(false)}>
        <ActionForm
          submit={sites.add}
          onCancel={() => setOpen(false)}
          madeFrom={ORIGIN_OF_DOMAIN}
          action={async (values) => {
            const { id } = await create({ name: values.text('name'), domain: domainIn(values.text('domain')) });
            setOpen(false);
            // The next step, the proof of the domain, is on the page of the site.
            await navigate({ to: '/sites/$siteId', params: { siteId: id } });
          }}
        >
          <TextInput name="name" label={sites.name} hint={sites.nameHint} isRequired />
          <TextInput name="domain" label={sites.domain} hint={sites.domainHint} isRequired />
        </ActionForm>
      </Dialog>
    </>
  );
}
