import { useQuery } from '@tanstack/react-query';
import { dataOf } from '../../api/client.js';
import { useApi } from '../../app-context.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { Loaded } from '../../ui/loaded.js';
import { Notice } from '../../ui/notice.js';
import { Page, Section } from '../../ui/page.js';
import { Facts } from '../../ui/table.js';
import { Time } from '../../ui/time.js';
import { Batches } from './batches.js';
import { Checkpoints } from './checkpoints.js';

/** Page on the proofs of when the records of the organisation existed. */
export function Timestamps() {
  const { timestamps } = useMessages();
  return (
    <Page title={timestamps.title} lead={timestamps.lead}>
      <div className="columns">
        <State />
        <HandOver />
      </div>
      <Checkpoints />
      <Batches />
    </Page>
  );
}

function State() {
  const { timestamps } = useMessages();
  const { number, list } = useFormats();
  const api = useApi();
  const query = useQuery({
    queryKey: ['stamp-status'],
    queryFn: () => dataOf(api.GET('/api/v1/timestamps/status')),
    refetchInterval: 15_000,
  });
  return (
    <Section title={timestamps.status}>
      <Loaded query={query}>
        {(status) => (
          <>
            {status.is_development ? (
              <Notice kind="warning">
                <p>{timestamps.development}</p>
              </Notice>
            ) : null}
            <Facts
              items={[
                [
                  timestamps.last,
                  status.last_stamp === null ? timestamps.none : <Time key="last" at={status.last_stamp.gen_time} />,
                ],
                [timestamps.unsealed, number(status.unsealed_entries)],
                [timestamps.unstamped, number(status.unstamped_entries)],
                [timestamps.authorities, list(status.authorities)],
              ]}
            />
          </>
        )}
      </Loaded>
    </Section>
  );
}

function HandOver() {
  const { timestamps } = useMessages();
  return (
    <Section title={timestamps.handOver} lead={timestamps.handOverText}>
      <ul className="list">
        <li>
          <a href="/checkpoints/ledger.vkey" download="ledger.vkey">
            {timestamps.key}
          </a>
        </li>
        <li>
          <a href="/checkpoints/keys">{timestamps.keys}</a>
        </li>
        <li>
          <a href="/checkpoints/tsa-roots.pem" download="tsa-roots.pem">
            {timestamps.roots}
          </a>
        </li>
        <li>
          <a href="/checkpoints/">{timestamps.checkpointList}</a>
        </li>
        <li>
          <a href="/verify/consent-verify.html">{timestamps.verifier}</a>
        </li>
      </ul>
    </Section>
  );
}
