//! The upload ring: buffers come back after a submit and after a dropped encoder, and are never shared.
#![expect(clippy::expect_used, reason = "in a helper too, a failed expectation fails the test")]

mod support;

use sinew_graph::UploadRing;
use support::{buffer, device, encoder, validation};

const DESTINATION: wgpu::BufferUsages = wgpu::BufferUsages::COPY_DST.union(wgpu::BufferUsages::MAP_READ);

/// Records an upload of `bytes` to the start of `into`.
fn upload(ring: &mut UploadRing, encoder: &mut wgpu::CommandEncoder, bytes: &[u8], into: &wgpu::Buffer) {
    let mut staging = ring.take(bytes.len() as u64).expect("mapped memory");
    staging.bytes().slice(..bytes.len()).copy_from_slice(bytes);
    staging.copy(encoder, 0..bytes.len() as u64, into, 0);
    staging.finish(encoder);
}

fn read(device: &wgpu::Device, buffer: &wgpu::Buffer) -> Vec<u8> {
    buffer.map_async(wgpu::MapMode::Read, .., |result| result.expect("mapped"));
    device.poll(wgpu::PollType::wait_indefinitely()).expect("polled");
    let bytes = buffer.get_mapped_range(..).expect("mapped").to_vec();
    buffer.unmap();
    bytes
}

#[test]
fn a_buffer_comes_back_after_submit_and_poll() {
    let (device, queue) = device();
    let mut ring = UploadRing::new(&device);
    let into = buffer(&device, 64, DESTINATION);
    for _ in 0..20 {
        let mut encoder = encoder(&device);
        upload(&mut ring, &mut encoder, &[7; 64], &into);
        queue.submit([encoder.finish()]);
        device.poll(wgpu::PollType::wait_indefinitely()).expect("polled");
    }
    assert_eq!((ring.created(), ring.idle()), (1, 1));
}

#[test]
fn a_buffer_comes_back_after_a_dropped_encoder() {
    let (device, queue) = device();
    let mut ring = UploadRing::new(&device);
    let into = buffer(&device, 64, DESTINATION);
    for _ in 0..20 {
        let mut encoder = encoder(&device);
        upload(&mut ring, &mut encoder, &[7; 64], &into);
        drop(encoder);
        // The next take asks for the map; the caller's next submit or poll delivers it.
        drop(ring.take(4));
        queue.submit([]);
        device.poll(wgpu::PollType::wait_indefinitely()).expect("polled");
    }
    assert!(ring.created() <= 2, "{}", ring.created());
}

#[test]
fn a_buffer_comes_back_after_a_dropped_command_buffer() {
    // Without its queue, a device panics when an encoder is created.
    let (device, _queue) = device();
    let mut ring = UploadRing::new(&device);
    let mut encoder = encoder(&device);
    upload(&mut ring, &mut encoder, &[7; 64], &buffer(&device, 64, DESTINATION));
    drop(encoder.finish());
    drop(ring.take(4));
    device.poll(wgpu::PollType::wait_indefinitely()).expect("polled");
    assert_eq!(ring.idle(), 2);
}

#[test]
fn an_unfinished_take_goes_back_at_once() {
    let (device, _) = device();
    let mut ring = UploadRing::new(&device);
    (0..3).for_each(|_| drop(ring.take(64)));
    assert_eq!((ring.created(), ring.idle()), (1, 1));
}

#[test]
fn uploads_recorded_before_one_submit_do_not_overwrite_each_other() {
    let (device, queue) = device();
    let mut ring = UploadRing::new(&device);
    let (first, second) = (buffer(&device, 64, DESTINATION), buffer(&device, 64, DESTINATION));
    let mut encoder = encoder(&device);
    upload(&mut ring, &mut encoder, &[1; 64], &first);
    upload(&mut ring, &mut encoder, &[2; 64], &second);
    assert_eq!(ring.created(), 2);
    queue.submit([encoder.finish()]);
    assert_eq!((read(&device, &first), read(&device, &second)), (vec![1; 64], vec![2; 64]));
}

#[test]
fn an_encoder_whose_staging_was_abandoned_can_still_be_submitted() {
    let (device, queue) = device();
    let mut ring = UploadRing::new(&device);
    let into = buffer(&device, 64, DESTINATION);
    let error = validation(&device, || {
        let mut encoder = encoder(&device);
        let mut staging = ring.take(64).expect("mapped memory");
        staging.copy(&mut encoder, 0..64, &into, 0);
        drop(staging);
        queue.submit([encoder.finish()]);
    });
    assert_eq!((error, ring.idle()), (None, 0));
}

#[test]
fn a_larger_upload_gets_a_larger_buffer() {
    let (device, _) = device();
    let mut ring = UploadRing::new(&device);
    drop(ring.take(64));
    let large = ring.take(1 << 20).expect("mapped memory");
    assert_eq!((large.size() >= 1 << 20, ring.created()), (true, 2));
}

#[test]
fn a_buffer_that_is_long_unused_is_given_back() {
    let (device, _) = device();
    let mut ring = UploadRing::new(&device);
    drop(ring.take(1 << 20));
    (0..100).for_each(|_| drop(ring.take(64)));
    assert_eq!((ring.created(), ring.idle()), (2, 1));
}

#[test]
fn the_ring_can_move_to_another_thread() {
    fn is_send<T: Send>() {}
    is_send::<UploadRing>();
}
