//! The operations, by number, and the objects that they keep.

#[cfg(feature = "schema")]
use wiremend::{
    exchange,
    schema::{Registry, Schema, SharedRegistry},
};

use crate::{
    answer::Answer,
    growing::{Growing, Mender},
    options::Options,
    texts,
};
#[cfg(feature = "wire")]
use crate::{calls, events::Reader};
#[cfg(feature = "schema")]
use crate::{exchange as exchanges, fits};

/// What is kept between operations.
pub(crate) enum Object {
    Mender(Box<Mender>),
    Growing(Box<Growing>),
    #[cfg(feature = "wire")]
    Reader(Box<Reader>),
    #[cfg(feature = "schema")]
    Schema(Schema),
    #[cfg(feature = "schema")]
    Arriving(Box<fits::Arriving>),
    #[cfg(feature = "schema")]
    Tools(SharedRegistry),
    #[cfg(feature = "schema")]
    Exchanges(exchange::Exchanges),
    #[cfg(feature = "schema")]
    Request(Box<exchange::Request>),
    #[cfg(feature = "schema")]
    Exchange(Box<exchange::Exchange>),
    #[cfg(feature = "schema")]
    Answer(Box<exchange::Answer>),
}

/// The objects, by number, from 1.
#[derive(Default)]
pub(crate) struct Host {
    objects: Vec<Option<Object>>,
    free: Vec<u32>,
}

impl Host {
    pub(crate) fn keep(&mut self, object: Object) -> u32 {
        if let Some(number) = self.free.pop() {
            if let Some(place) = self.objects.get_mut(number as usize - 1) {
                *place = Some(object);
            }
            return number;
        }
        self.objects.push(Some(object));
        u32::try_from(self.objects.len()).unwrap_or(u32::MAX)
    }

    fn drop(&mut self, number: u32) {
        let place = (number as usize).checked_sub(1).and_then(|at| self.objects.get_mut(at));
        if place.and_then(Option::take).is_some() {
            self.free.push(number);
        }
    }

    #[cfg(feature = "schema")]
    pub(crate) fn get(&self, number: u32) -> Option<&Object> {
        (number as usize).checked_sub(1).and_then(|at| self.objects.get(at)?.as_ref())
    }

    fn get_mut(&mut self, number: u32) -> Option<&mut Object> {
        (number as usize).checked_sub(1).and_then(|at| self.objects.get_mut(at)?.as_mut())
    }

    #[cfg(feature = "schema")]
    pub(crate) fn schema(&self, number: u32) -> Option<&Schema> {
        match self.get(number) {
            Some(Object::Schema(schema)) => Some(schema),
            _ => None,
        }
    }

    #[cfg(feature = "schema")]
    pub(crate) fn tools(&self, number: u32) -> Option<&SharedRegistry> {
        match self.get(number) {
            Some(Object::Tools(tools)) => Some(tools),
            _ => None,
        }
    }

    /// Runs an operation. The numbers are those of `lib/engine.ts`.
    pub(crate) fn run(
        &mut self,
        operation: u32,
        object: u32,
        options: &[u8],
        text: &[u8],
        to: &mut Answer,
    ) -> Result<(), String> {
        let options = Options::read(options)?;
        match operation {
            0 => {
                self.drop(object);
                Ok(())
            }
            1 => texts::mend(&options, text, to),
            #[cfg(feature = "wire")]
            3 if object == 0 => calls::arguments(&options, text, to),
            #[cfg(feature = "wire")]
            4 if object == 0 => calls::calls(None, &options, text, to),
            7 => self.made(Object::Mender(Box::new(Mender::new(&options)?)), to),
            8 => self.made(Object::Growing(Box::default()), to),
            #[cfg(feature = "wire")]
            9 => {
                let reader = Reader::new(self, &options)?;
                self.made(Object::Reader(Box::new(reader)), to)
            }
            15 => texts::readings(&options, text, to),
            2..FEED => self.with_schemas(operation, object, &options, text, to),
            _ => match self.get_mut(object) {
                Some(Object::Mender(mender)) => mender.run(operation, text, to),
                Some(Object::Growing(growing)) => growing.run(text, to),
                #[cfg(feature = "wire")]
                Some(Object::Reader(reader)) => reader.run(operation, text, to),
                #[cfg(feature = "schema")]
                Some(Object::Arriving(arriving)) => arriving.run(operation, text, to),
                #[cfg(feature = "schema")]
                Some(Object::Answer(answer)) => exchanges::run(answer, operation, text, to),
                _ => Err(UNKNOWN.to_owned()),
            },
        }
    }

    #[cfg(not(feature = "schema"))]
    #[expect(clippy::unused_self, reason = "the other one needs it")]
    fn with_schemas(
        &mut self,
        _: u32,
        _: u32,
        _: &Options,
        _: &[u8],
        _: &mut Answer,
    ) -> Result<(), String> {
        Err("this module has no part for that: load wiremend.wasm".to_owned())
    }

    /// The operations that need schemas.
    #[cfg(feature = "schema")]
    fn with_schemas(
        &mut self,
        operation: u32,
        object: u32,
        options: &Options,
        text: &[u8],
        to: &mut Answer,
    ) -> Result<(), String> {
        match operation {
            2 => fits::fit(self.schema(object).ok_or(UNKNOWN)?, options, text, to),
            3 => fits::arguments(self.schema(object).ok_or(UNKNOWN)?, options, text, to),
            4 => {
                let tools = self.tools(object).ok_or(UNKNOWN)?.load().tools();
                calls::calls(Some(tools), options, text, to)
            }
            5 => {
                let text = std::str::from_utf8(text).map_err(|error| error.to_string())?;
                let schema = Schema::from_text(text).map_err(|error| error.to_string())?;
                self.made(Object::Schema(schema), to)
            }
            6 => {
                let declared = serde_json::from_slice(text).map_err(|error| error.to_string())?;
                let registry =
                    Registry::from_tools(&declared).map_err(|error| error.to_string())?;
                self.made(Object::Tools(SharedRegistry::new(registry)), to)
            }
            10 => self.made(exchanges::exchanges(options)?, to),
            11 => {
                let Some(Object::Exchanges(own)) = self.get(object) else {
                    return Err(UNKNOWN.to_owned());
                };
                let request = exchanges::request(own, options)?;
                let reads_body = request.reads_body();
                let number = self.keep(Object::Request(Box::new(request)));
                to.json(&(number, reads_body))
            }
            12 | 13 => {
                let Some(Object::Request(own)) = self.get(object) else {
                    return Err(UNKNOWN.to_owned());
                };
                let exchange = exchanges::read((**own).clone(), (operation == 13).then_some(text));
                let edits = exchanges::edits(exchange.header_edits());
                let body = exchange.body().map(|body| body.as_bytes().to_vec());
                let number = self.keep(Object::Exchange(Box::new(exchange)));
                to.json(&(number, edits, body.is_some()))?;
                to.push(&body.unwrap_or_default());
                Ok(())
            }
            14 => {
                let Some(Object::Exchange(own)) = self.get(object) else {
                    return Err(UNKNOWN.to_owned());
                };
                let answer = exchanges::answer(own, options);
                let treatment = exchanges::treatment(&answer);
                let number = self.keep(Object::Answer(Box::new(answer)));
                to.json(&(number, treatment))
            }
            16 => {
                let schema = self.schema(object).ok_or(UNKNOWN)?;
                let arriving = fits::Arriving::new(schema, options)?;
                self.made(Object::Arriving(Box::new(arriving)), to)
            }
            _ => Err(UNKNOWN.to_owned()),
        }
    }

    fn made(&mut self, object: Object, to: &mut Answer) -> Result<(), String> {
        let number = self.keep(object);
        to.json(&number)
    }
}

const UNKNOWN: &str = "there is no such object, or it was closed";

/// What is done with an object that is read in pieces.
pub(crate) const FEED: u32 = 20;
pub(crate) const CLOSE: u32 = 21;
pub(crate) const CHANGES: u32 = 22;
#[cfg(feature = "schema")]
pub(crate) const STOP: u32 = 23;
#[cfg(feature = "schema")]
pub(crate) const BEGIN_STREAM: u32 = 24;
#[cfg(feature = "schema")]
pub(crate) const ACCOUNT: u32 = 25;
