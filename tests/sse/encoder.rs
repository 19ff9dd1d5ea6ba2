//! `EventEncoder`: what it writes is decoded as it was, and no text can forge an event.

use std::time::Duration;

use proptest::prelude::*;
use utf8_codec::payload::sse::{Event, EventDecoder, EventEncoder, EventError};

fn decoded(text: &str) -> Vec<Event> {
    EventDecoder::new().push(text.as_bytes()).map(Result::unwrap).collect()
}

fn any_event() -> impl Strategy<Value = Event> {
    let word = "[ -~é€👋\t\u{FEFF}:]{0,6}";
    let data = "[ -~é€👋\0\u{FEFF}:\r\n]{0,20}";
    (word, data, word).prop_map(|(event_type, data, last_event_id)| Event {
        event_type: event_type.into(),
        data,
        last_event_id,
    })
}

/// The event as a receiver sees it.
fn received(event: &Event) -> Event {
    let data = event.data.replace("\r\n", "\n").replace('\r', "\n");
    let event_type = match &*event.event_type {
        "" => "message".into(),
        _ => event.event_type.clone(),
    };
    Event { event_type, data, last_event_id: event.last_event_id.clone() }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn encoded_events_are_decoded_as_they_were(
        events in prop::collection::vec(any_event(), 0..8),
        comment in "[ -~é€:]{0,9}",
    ) {
        let (mut encoder, mut text) = (EventEncoder::new(), String::new());
        for event in &events {
            encoder.encode_comment(&comment, &mut text).unwrap();
            encoder.encode(event, &mut text).unwrap();
            encoder.encode_reconnection_time(Duration::from_secs(1), &mut text);
        }
        prop_assert_eq!(decoded(&text), events.iter().map(received).collect::<Vec<_>>());
    }

    #[test]
    fn no_text_adds_an_event(
        event_type in "[a:\r\n\0 ]{0,5}",
        data in "(data|id|:|\r|\n|x){0,9}",
        id in "[a:\r\n\0 ]{0,5}",
    ) {
        let (mut encoder, mut text) = (EventEncoder::new(), String::new());
        let event = Event { event_type: event_type.into(), data, last_event_id: id };
        let count = usize::from(encoder.encode(&event, &mut text).is_ok());
        prop_assert_eq!(decoded(&text).len(), count);
        encoder.encode(&Event::new("next"), &mut text).unwrap();
        let last = decoded(&text).pop().unwrap();
        prop_assert_eq!(last, Event::new("next"));
    }
}

#[test]
fn line_ends_and_nul_are_rejected_where_they_have_a_meaning() {
    let (mut encoder, mut text) = (EventEncoder::new(), String::new());
    for end in ["\r", "\n", "\r\n"] {
        let event_type = format!("é{end}data: x").into();
        let forged = Event { event_type, ..Event::new("") };
        assert_eq!(encoder.encode(&forged, &mut text), Err(EventError::InvalidType { offset: 2 }));
        let forged = Event { last_event_id: format!("12{end}"), ..Event::new("") };
        assert_eq!(encoder.encode(&forged, &mut text), Err(EventError::InvalidId { offset: 2 }));
        let forged = encoder.encode_comment(&format!(" {end}"), &mut text);
        assert_eq!(forged, Err(EventError::InvalidComment { offset: 1 }));
    }
    let nul = Event { last_event_id: "\0".into(), ..Event::new("") };
    assert_eq!(encoder.encode(&nul, &mut text), Err(EventError::InvalidId { offset: 0 }));
    assert_eq!(text, "", "nothing is written after an error");
}

#[test]
fn a_rejected_id_does_not_become_the_last_one() {
    let (mut encoder, mut text) = (EventEncoder::new(), String::new());
    let event = |id: &str| Event { last_event_id: id.into(), ..Event::new("x") };
    encoder.encode(&event("1"), &mut text).unwrap();
    encoder.encode(&event("2\n"), &mut text).unwrap_err();
    encoder.encode(&event("1"), &mut text).unwrap();
    encoder.encode(&event(""), &mut text).unwrap();
    assert_eq!(text, "id: 1\ndata: x\n\ndata: x\n\nid: \ndata: x\n\n");
}
