import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { claimsOf } from '../../../../schemas/rfc3161/claims.js';
import { parseTimestamp } from '../../../../schemas/rfc3161/cms/token.js';
import { failureOf } from '../../api/failure.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { Loaded } from '../../ui/loaded.js';
import { Facts } from '../../ui/table.js';
import { Time } from '../../ui/time.js';

/** Shows what a time stamp says (RFC 3161 §2.4.2). @param path public path of the token */
export function ReadToken({ path }: { readonly path: string }) {
  const { timestamps, common } = useMessages();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button onPress={() => setOpen(true)} aria-label={`${timestamps.read}: ${path}`}>
        {timestamps.read}
      </Button>
      <Dialog title={timestamps.contents} isOpen={isOpen} onClose={() => setOpen(false)}>
        <Contents path={path} />
        <div className="actions">
          <Button onPress={() => setOpen(false)}>{common.close}</Button>
        </div>
      </Dialog>
    </>
  );
}

function Contents({ path }: { readonly path: string }) {
  const { timestamps } = useMessages();
  const { number } = useFormats();
  const query = useQuery({ queryKey: ['token', path], queryFn: () => readClaims(path), staleTime: Infinity });
  return (
    <Loaded query={query}>
      {(claims) =>
        claims === null ? (
          <p>{timestamps.unreadable}</p>
        ) : (
          <>
            <Facts
              items={[
                [
                  timestamps.exactTime,
                  <span key="time">
                    <Time at={claims.at} /> <code>{claims.genTimeText}</code>
                  </span>,
                ],
                [timestamps.authority, claims.tsa ?? timestamps.notStated],
                [timestamps.serial, <code key="serial">{claims.serial}</code>],
                [timestamps.policy, <code key="policy">{claims.policy}</code>],
                [timestamps.algorithm, claims.imprintAlgorithm?.toUpperCase() ?? timestamps.notStated],
                [timestamps.digest, <code key="digest">{claims.imprintDigest}</code>],
                [
                  timestamps.accuracy,
                  claims.accuracyMicroseconds === undefined
                    ? timestamps.notStated
                    : timestamps.seconds(number(claims.accuracyMicroseconds / 1_000_000)),
                ],
              ]}
            />
            <p className="hint">{timestamps.checkIt}</p>
          </>
        )
      }
    </Loaded>
  );
}

/** @returns null for a refusal of the authority @throws ApiFailure */
async function readClaims(path: string) {
  const response = await fetch(path);
  if (!response.ok) throw failureOf(response.status, undefined);
  const { tstInfo } = parseTimestamp(new Uint8Array(await response.arrayBuffer()));
  if (tstInfo === undefined) return null;
  const { genTime, genTimeText, tsa, serial, policy, imprintAlgorithm, imprintDigest, accuracyMicroseconds } =
    claimsOf(tstInfo);
  return {
    at: genTime.toISOString(),
    genTimeText,
    tsa,
    serial,
    policy,
    imprintAlgorithm,
    imprintDigest,
    accuracyMicroseconds,
  };
}
