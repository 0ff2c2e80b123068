import { Link } from '@tanstack/react-router';
import type { Site } from '../../api/types.js';
import { useMay } from '../../app-context.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { useSites } from '../../shell/use-sites.js';
import { Badge } from '../../ui/badge.js';
import { Loaded } from '../../ui/loaded.js';
import { Empty, Section } from '../../ui/page.js';
import { Table } from '../../ui/table.js';

/** The sites of the tenant, and how to add one. */
export function SiteList() {
  const { sites, common } = useMessages();
  const { date } = useFormats();
  const query = useSites();
  const mayChange = useMay('changeSites');
  return (
    <Section title={sites.list} actions={mayChange && (query.data?.length ?? 0) > 0 ? <AddSite /> : null}>
      <Loaded query={query}>
        {(items) =>
          items.length === 0 ? (
            <Empty title={sites.emptyTitle}>
              <p>{mayChange ? sites.emptyText : sites.emptyReader}</p>
              {mayChange ? <AddSite /> : null}
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

/** Leads to the guide, whose first step adds the site. */
function AddSite() {
  const { sites } = useMessages();
  return (
    <Link className="button button-primary" to="/sites/new">
      {sites.add}
    </Link>
  );
}
